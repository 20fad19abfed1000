# Who may do what. Every grant of the system is in this file, on the smallest thing that it can be given on.
# docs/permissions.md has the reason for each.

# Calling functions.

resource "google_cloud_run_v2_service_iam_member" "invoker" {
  for_each = merge(
    merge([
      for name, f in local.functions : {
        for caller in f.callers : "${name}/${caller}" => {
          function = name
          member   = google_service_account.account[caller].member
        }
      }
    ]...),
    { for name, member in var.submitters : "submit/${name}" => { function = "submit", member = member } },
  )

  name     = google_cloudfunctions2_function.function[each.value.function].name
  location = var.region
  role     = "roles/run.invoker"
  member   = each.value.member
}

# Pub/Sub signs its calls as the push account.
resource "google_service_account_iam_member" "push_token" {
  service_account_id = google_service_account.account["push"].id
  role               = "roles/iam.serviceAccountOpenIdTokenCreator"
  member             = local.pubsub_agent
}

# Publishing.

locals {
  publishers = merge(
    {
      "completions/ingest"  = google_service_account.account["ingest"].member
      "completions/submit"  = google_service_account.account["submit"].member
      "completions/sweep"   = google_service_account.account["sweep"].member
      "dead-letters/join"   = google_service_account.account["join"].member
      "dead-letters/ingest" = google_service_account.account["ingest"].member
      "dead-letters/submit" = google_service_account.account["submit"].member
      "dead-letters/pubsub" = local.pubsub_agent
      "dead-letters/poll"   = google_service_account.account["poll"].member
      "events/poll"         = google_service_account.account["poll"].member
      "summaries/finish"    = google_service_account.account["finish"].member
    },
    { for topic in distinct([for join in values(local.joins) : join.topic]) : "${topic}/join" => google_service_account.account["join"].member },
    { for name, member in var.publishers : "events/producer-${name}" => member },
  )
}

resource "google_pubsub_topic_iam_member" "publisher" {
  for_each = local.publishers

  topic  = google_pubsub_topic.topic[split("/", each.key)[0]].name
  role   = "roles/pubsub.publisher"
  member = each.value
}

# To forward a dead letter, Pub/Sub also acknowledges it on the subscription that it came from.
resource "google_pubsub_subscription_iam_member" "dead_letter_source" {
  for_each = google_pubsub_subscription.push

  subscription = each.value.name
  role         = "roles/pubsub.subscriber"
  member       = local.pubsub_agent
}

# Tables.

# Every predefined role that writes rows may also read and delete the table.
resource "google_project_iam_custom_role" "writer" {
  role_id     = replace("${local.name}_writer", "-", "_")
  title       = "${local.name} writer"
  description = "Writes rows of a table; neither reads them nor changes the table itself"
  permissions = ["bigquery.tables.get", "bigquery.tables.updateData"]

  depends_on = [google_project_service.service]
}

resource "google_bigquery_table_iam_member" "writer" {
  for_each = {
    ingest = "events"
    submit = "events"
    finish = "summaries"
    join   = "joined"
  }

  dataset_id = google_bigquery_dataset.codaflow.dataset_id
  table_id   = google_bigquery_table.table[each.value].table_id
  role       = google_project_iam_custom_role.writer.name
  member     = google_service_account.account[each.key].member
}

# Pub/Sub documents this role for the table of a BigQuery subscription.
resource "google_bigquery_table_iam_member" "dead_letters" {
  dataset_id = google_bigquery_dataset.codaflow.dataset_id
  table_id   = google_bigquery_table.table["dead_letters"].table_id
  role       = "roles/bigquery.dataEditor"
  member     = local.pubsub_agent
}

resource "google_bigquery_dataset_iam_member" "reader" {
  for_each = toset(["join", "reconcile"])

  dataset_id = google_bigquery_dataset.codaflow.dataset_id
  role       = "roles/bigquery.dataViewer"
  member     = google_service_account.account[each.key].member
}

# The user's own reference data.
resource "google_bigquery_dataset_iam_member" "join_reads" {
  for_each = var.bigquery.joins_may_read

  project    = split(".", each.value)[0]
  dataset_id = split(".", each.value)[1]
  role       = "roles/bigquery.dataViewer"
  member     = google_service_account.account["join"].member
}

# Jobs belong to a project, so this role can be given on nothing smaller. It opens no table.
resource "google_project_iam_member" "job_user" {
  for_each = toset(["join", "reconcile"])

  project = var.project_id
  role    = "roles/bigquery.jobUser"
  member  = google_service_account.account[each.key].member
}

# State. Firestore has no grants on a database, so the condition narrows the project's grant to ours.

resource "google_project_iam_member" "state" {
  for_each = toset(["finish", "ingest", "join", "poll", "submit", "sweep"])

  project = var.project_id
  role    = "roles/datastore.user"
  member  = google_service_account.account[each.key].member

  condition {
    title       = "${local.name}-database"
    description = "Only the database of ${local.name}"
    expression  = "resource.name == \"projects/${var.project_id}/databases/${google_firestore_database.codaflow.name}\""
  }
}

# Tasks.

resource "google_cloud_tasks_queue_iam_member" "enqueuer" {
  for_each = toset(["poll", "sweep"])

  name     = google_cloud_tasks_queue.queue["poll"].name
  location = var.region
  role     = "roles/cloudtasks.enqueuer"
  member   = google_service_account.account[each.key].member
}

# What watches look at. Whoever made a job may look at it; for the jobs of others, poll needs this.

resource "google_project_iam_custom_role" "job_reader" {
  for_each = var.polling.job_projects

  project     = each.value
  role_id     = replace("${local.name}_job_reader", "-", "_")
  title       = "${local.name} job reader"
  description = "Tells how a job of BigQuery stands; lists none and opens no table"
  permissions = ["bigquery.jobs.get"]

  depends_on = [google_project_service.service]
}

resource "google_project_iam_member" "job_reader" {
  for_each = var.polling.job_projects

  project = each.value
  role    = google_project_iam_custom_role.job_reader[each.key].name
  member  = google_service_account.account["poll"].member
}

resource "google_secret_manager_secret_iam_member" "poll" {
  for_each = var.polling.secrets

  secret_id = each.value.secret
  role      = "roles/secretmanager.secretAccessor"
  member    = google_service_account.account["poll"].member
}

# Building.

resource "google_storage_bucket_iam_member" "build" {
  bucket = google_storage_bucket.source.name
  role   = "roles/storage.objectViewer"
  member = google_service_account.account["build"].member
}

# Google copies the archive to a bucket that it makes on the first deployment, hence a condition instead of a bucket.
resource "google_project_iam_member" "build_sources" {
  project = var.project_id
  role    = "roles/storage.objectViewer"
  member  = google_service_account.account["build"].member

  condition {
    title       = "${local.name}-function-sources"
    description = "Only the bucket that Cloud Run functions builds from"
    expression  = "resource.name.startsWith(\"projects/_/buckets/gcf-v2-sources-${data.google_project.this.number}-${var.region}\")"
  }
}

resource "google_artifact_registry_repository_iam_member" "build" {
  repository = google_artifact_registry_repository.images.name
  location   = var.region
  role       = "roles/artifactregistry.writer"
  member     = google_service_account.account["build"].member
}

# Logs belong to the project.
resource "google_project_iam_member" "build_logs" {
  project = var.project_id
  role    = "roles/logging.logWriter"
  member  = google_service_account.account["build"].member
}
