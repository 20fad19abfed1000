# Kafka -> events, and results and summaries -> Kafka. docs/kafka.md has the same settings for workers of your own.

locals {
  # What comes back, and the attribute that becomes the key of the record.
  sources = {
    results   = { topic = var.topics.results }
    summaries = { topic = var.topics.summaries }
  }
  agent = "serviceAccount:service-${data.google_project.this.number}@gcp-sa-managedkafka.iam.gserviceaccount.com"
}

resource "google_managed_kafka_connector" "sink" {
  connector_id    = "${local.name}-events"
  connect_cluster = google_managed_kafka_connect_cluster.workers.connect_cluster_id
  location        = var.region

  configs = {
    "connector.class" = "com.google.pubsub.kafka.sink.CloudPubSubSinkConnector"
    "tasks.max"       = "3"
    "topics"          = google_managed_kafka_topic.topic[var.topics.events].topic_id
    "cps.project"     = var.project_id
    "cps.topic"       = "${local.topic_prefix}events"

    # The value as it is: an event is JSON, and its text is kept byte for byte.
    "value.converter" = "org.apache.kafka.connect.converters.ByteArrayConverter"
    "key.converter"   = "org.apache.kafka.connect.storage.StringConverter"

    # Headers become attributes (event_id among them), and so do topic, partition, offset and timestamp.
    "headers.publish"  = "true"
    "metadata.publish" = "true"
  }

  task_restart_policy {
    minimum_backoff = "60s"
    maximum_backoff = "1800s"
  }

  depends_on = [google_pubsub_topic_iam_member.sink]
}

resource "google_pubsub_subscription" "source" {
  for_each = local.sources

  name  = "${local.topic_prefix}${each.key}-kafka"
  topic = "projects/${var.project_id}/topics/${local.topic_prefix}${each.key}"

  ack_deadline_seconds       = 60
  message_retention_duration = "604800s"

  expiration_policy {
    ttl = ""
  }
  retry_policy {
    minimum_backoff = "10s"
    maximum_backoff = "600s"
  }
}

resource "google_managed_kafka_connector" "source" {
  for_each = local.sources

  connector_id    = "${local.name}-${each.key}"
  connect_cluster = google_managed_kafka_connect_cluster.workers.connect_cluster_id
  location        = var.region

  configs = {
    "connector.class"  = "com.google.pubsub.kafka.source.CloudPubSubSourceConnector"
    "tasks.max"        = "3"
    "cps.project"      = var.project_id
    "cps.subscription" = google_pubsub_subscription.source[each.key].name
    "kafka.topic"      = google_managed_kafka_topic.topic[each.value.topic].topic_id

    # One key, one partition: consumers see the rows of a key in the order in which they were written to Kafka.
    "kafka.key.attribute"    = "unique_key"
    "kafka.partition.scheme" = "kafka_partitioner"
    # The value is the message alone; attributes travel as headers.
    "kafka.record.headers" = "true"
    "value.converter"      = "org.apache.kafka.connect.converters.ByteArrayConverter"
    "key.converter"        = "org.apache.kafka.connect.storage.StringConverter"
  }

  task_restart_policy {
    minimum_backoff = "60s"
    maximum_backoff = "1800s"
  }

  depends_on = [google_pubsub_subscription_iam_member.source]
}

# The workers act as Google's own account of Managed Kafka. It may publish events and read what comes back, no more.

resource "google_pubsub_topic_iam_member" "sink" {
  for_each = toset(["roles/pubsub.publisher", "roles/pubsub.viewer"])

  topic  = "projects/${var.project_id}/topics/${local.topic_prefix}events"
  role   = each.value
  member = local.agent

  depends_on = [google_managed_kafka_cluster.kafka]
}

resource "google_pubsub_subscription_iam_member" "source" {
  for_each = merge([
    for key, subscription in google_pubsub_subscription.source : {
      for role in ["roles/pubsub.subscriber", "roles/pubsub.viewer"] :
      "${key}/${role}" => { subscription = subscription.name, role = role }
    }
  ]...)

  subscription = each.value.subscription
  role         = each.value.role
  member       = local.agent

  depends_on = [google_managed_kafka_cluster.kafka]
}
