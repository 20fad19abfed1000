# Names that everything else builds on, and the services of Google Cloud that it uses.

locals {
  name         = var.prefix == "" ? "codaflow" : "${var.prefix}-codaflow"
  topic_prefix = var.prefix == "" ? "" : "${var.prefix}-"

  # Google's own account that delivers messages: it needs grants of its own.
  pubsub_agent = "serviceAccount:service-${data.google_project.this.number}@gcp-sa-pubsub.iam.gserviceaccount.com"

  services = toset(concat(var.budget == null ? [] : ["billingbudgets.googleapis.com"], [
    "artifactregistry.googleapis.com",
    "bigquery.googleapis.com",
    "bigquerydatatransfer.googleapis.com",
    "bigquerystorage.googleapis.com",
    "cloudbuild.googleapis.com",
    "cloudfunctions.googleapis.com",
    "cloudresourcemanager.googleapis.com",
    "cloudscheduler.googleapis.com",
    "cloudtasks.googleapis.com",
    "firestore.googleapis.com",
    "iam.googleapis.com",
    "logging.googleapis.com",
    "monitoring.googleapis.com",
    "pubsub.googleapis.com",
    "run.googleapis.com",
    "secretmanager.googleapis.com",
    "storage.googleapis.com",
  ]))
}

data "google_project" "this" {
  project_id = var.project_id
}

resource "google_project_service" "service" {
  for_each = local.services

  service = each.value
  # Others in the project may use it: destroying Codaflow must not turn it off for them.
  disable_on_destroy = false
}
