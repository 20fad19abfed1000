# The Kafka cluster and the workers of the two connectors.

locals {
  name         = var.prefix == "" ? "codaflow" : "${var.prefix}-codaflow"
  topic_prefix = var.prefix == "" ? "" : "${var.prefix}-"
  gib          = 1024 * 1024 * 1024
}

data "google_project" "this" {
  project_id = var.project_id
}

resource "google_project_service" "kafka" {
  service            = "managedkafka.googleapis.com"
  disable_on_destroy = false
}

resource "google_managed_kafka_cluster" "kafka" {
  cluster_id = local.name
  location   = var.region

  capacity_config {
    vcpu_count   = tostring(var.cluster.vcpus)
    memory_bytes = tostring(var.cluster.memory_gib * local.gib)
  }

  gcp_config {
    access_config {
      network_configs {
        subnet = var.subnet
      }
    }
  }

  depends_on = [google_project_service.kafka]
}

resource "google_managed_kafka_topic" "topic" {
  for_each = toset([var.topics.events, var.topics.results, var.topics.summaries])

  cluster            = google_managed_kafka_cluster.kafka.cluster_id
  location           = var.region
  topic_id           = each.key
  partition_count    = var.topics.partitions
  replication_factor = 3

  configs = {
    "min.insync.replicas" = "2"
  }
}

resource "google_managed_kafka_connect_cluster" "workers" {
  connect_cluster_id = local.name
  kafka_cluster      = google_managed_kafka_cluster.kafka.id
  location           = var.region

  capacity_config {
    vcpu_count   = tostring(var.cluster.worker_vcpus)
    memory_bytes = tostring(var.cluster.worker_memory_gib * local.gib)
  }

  gcp_config {
    access_config {
      network_configs {
        primary_subnet = var.subnet
      }
    }
  }
}
