# Dataset, tables and views. Schemas and SQL are files that the local cloud loads too.

locals {
  day_ms = 24 * 60 * 60 * 1000

  tables = merge(
    {
      events = {
        partition  = { field = "event_time", type = var.bigquery.events_partitioning, days = var.bigquery.events_expiration_days }
        clustering = ["unique_key", "event_id"]
      }
      summaries = {
        partition  = { field = "written_at", type = "DAY", days = var.bigquery.summaries_expiration_days }
        clustering = ["unique_key"]
      }
      joined = {
        partition  = { field = "event_time", type = "DAY", days = var.bigquery.events_expiration_days }
        clustering = ["join_name", "run_id"]
      }
      dead_letters = {
        partition  = { field = "publish_time", type = "DAY", days = var.bigquery.dead_letters_kept_days }
        clustering = []
      }
    },
    var.bigquery.create_reference ? {
      reference = { partition = null, clustering = ["join_key"] }
    } : {},
  )

  # By what the view `reconciliation` judges. Defaults are those of functions/settings.ts; a table that keeps its
  # partitions keeps them longer than events are accepted.
  seconds = { ms = 0.001, s = 1, m = 60, h = 3600, d = 86400 }
  silence = lookup(var.settings, "SILENCE_DEADLINE", "24h")
  reconciliation = {
    silence_seconds   = ceil(tonumber(regex("^\\d+", local.silence)) * local.seconds[regex("[a-z]+$", local.silence)])
    retention_seconds = tonumber(trimsuffix(lookup(var.settings, "STATE_RETENTION", "35d"), "d")) * local.seconds["d"]
    events_days       = floor(coalesce(var.bigquery.events_expiration_days, 36500))
    summaries_days    = floor(coalesce(var.bigquery.summaries_expiration_days, 36500))
  }

  views = toset([for file in fileset(path.module, "sql/*.sql") : trimsuffix(basename(file), ".sql")])
}

resource "google_bigquery_dataset" "codaflow" {
  dataset_id            = replace(local.name, "-", "_")
  location              = coalesce(var.bigquery.location, var.region)
  max_time_travel_hours = tostring(var.bigquery.max_time_travel_hours)
  storage_billing_model = var.bigquery.storage_billing_model

  # A dataset with tables in it is not destroyed by accident.
  delete_contents_on_destroy = false

  depends_on = [google_project_service.service]
}

resource "google_bigquery_table" "table" {
  for_each = local.tables

  dataset_id          = google_bigquery_dataset.codaflow.dataset_id
  table_id            = each.key
  schema              = file("${path.module}/schemas/${each.key}.json")
  clustering          = length(each.value.clustering) == 0 ? null : each.value.clustering
  deletion_protection = var.deletion_protection

  dynamic "time_partitioning" {
    for_each = each.value.partition == null ? [] : [each.value.partition]
    content {
      field         = time_partitioning.value.field
      type          = time_partitioning.value.type
      expiration_ms = time_partitioning.value.days == null ? null : time_partitioning.value.days * local.day_ms
    }
  }
}

resource "google_bigquery_table" "view" {
  for_each = local.views

  dataset_id = google_bigquery_dataset.codaflow.dataset_id
  table_id   = each.key
  # Holds no data of its own.
  deletion_protection = false

  view {
    query = templatefile("${path.module}/sql/${each.key}.sql", merge(local.reconciliation, {
      dataset = "${var.project_id}.${google_bigquery_dataset.codaflow.dataset_id}"
    }))
    use_legacy_sql = false
  }

  depends_on = [google_bigquery_table.table]
}

# What each join left out; gone with the join.
resource "google_bigquery_table" "left_out" {
  for_each = local.joins

  dataset_id          = google_bigquery_dataset.codaflow.dataset_id
  table_id            = "${each.key}_left_out"
  deletion_protection = false

  view {
    query = templatefile("${path.module}/sql/join/left_out.sql", {
      dataset = "${var.project_id}.${google_bigquery_dataset.codaflow.dataset_id}"
      join    = each.key
      # `table`, `dataset.table` or `project.dataset.table`.
      source = join(".", concat(
        slice([var.project_id, google_bigquery_dataset.codaflow.dataset_id], 0, 3 - length(split(".", try(each.value.source.table, "events")))),
        [try(each.value.source.table, "events")],
      ))
      key     = try(each.value.source.key, "unique_key")
      id      = try(each.value.source.id, "event_id")
      time    = try(each.value.source.time, "event_time")
      arrival = try(coalesce(each.value.source.arrival), each.value.source.time, "ingest_time")
    })
    use_legacy_sql = false
  }

  depends_on = [google_bigquery_table.table]
}

# Compares what was stored with what was summed up; a difference makes the query, and so the alarm, fail.
resource "google_bigquery_data_transfer_config" "reconciliation" {
  count = var.bigquery.reconciliation_schedule == "" ? 0 : 1

  display_name         = "${local.name}-reconciliation"
  data_source_id       = "scheduled_query"
  location             = google_bigquery_dataset.codaflow.location
  schedule             = var.bigquery.reconciliation_schedule
  service_account_name = google_service_account.account["reconcile"].email

  params = {
    query = <<-SQL
      ASSERT NOT EXISTS (
        SELECT 1 FROM `${var.project_id}.${google_bigquery_dataset.codaflow.dataset_id}.${google_bigquery_table.view["reconciliation"].table_id}`
      ) AS 'keys differ';
    SQL
  }

  depends_on = [
    google_bigquery_dataset_iam_member.reader,
    google_project_iam_member.job_user,
  ]
}
