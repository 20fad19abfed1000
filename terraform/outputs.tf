output "dashboard" {
  description = "Page with the state of everything."
  value       = "https://console.cloud.google.com/monitoring/dashboards?project=${var.project_id}"
}

output "database" {
  description = "Firestore database of the state."
  value       = google_firestore_database.codaflow.name
}

output "dataset" {
  description = "BigQuery dataset, as project.dataset."
  value       = "${var.project_id}.${google_bigquery_dataset.codaflow.dataset_id}"
}

output "functions" {
  description = "URL of each function. Only the callers in access.tf get in."
  value       = { for name, f in google_cloudfunctions2_function.function : name => f.service_config[0].uri }
}

output "queues" {
  description = "Task queues: add writes to urgent or bulk."
  value       = { for name, queue in google_cloud_tasks_queue.queue : name => queue.id }
}

output "topics" {
  description = "Topics: publish to events, subscribe to summaries and to the joins' topics."
  value       = { for name, topic in google_pubsub_topic.topic : name => topic.id }

  # Whoever uses a topic can rely on its grants being there.
  depends_on = [google_pubsub_topic_iam_member.publisher]
}
