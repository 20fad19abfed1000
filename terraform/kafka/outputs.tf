output "bootstrap" {
  description = "Where Kafka clients in the subnet connect to."
  value       = "bootstrap.${google_managed_kafka_cluster.kafka.cluster_id}.${var.region}.managedkafka.${var.project_id}.cloud.goog:9092"
}
