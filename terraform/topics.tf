# Topics, the subscriptions that push to the functions, and where failed messages go.

locals {
  own_topics = ["events", "completions", "summaries", "dead-letters", "watches"]

  # Besides these, every join names a topic for its rows.
  topics = toset(concat(local.own_topics, [for join in values(local.joins) : join.topic]))

  # A push subscription of our own, not a trigger: a trigger has no dead letter, 24 hours of retention and retries off.
  pushes = {
    events      = "ingest"
    completions = "finish"
    watches     = "poll"
  }
}

resource "google_pubsub_schema" "events" {
  count = var.event_schema == null ? 0 : 1

  name       = "${local.topic_prefix}events"
  type       = var.event_schema.type
  definition = var.event_schema.definition

  depends_on = [google_project_service.service]
}

resource "google_pubsub_topic" "topic" {
  for_each = local.topics

  name = "${local.topic_prefix}${each.key}"

  dynamic "schema_settings" {
    for_each = each.key == "events" ? google_pubsub_schema.events : []
    content {
      schema   = schema_settings.value.id
      encoding = var.event_schema.encoding
    }
  }

  depends_on = [google_project_service.service]
}

resource "google_pubsub_subscription" "push" {
  for_each = local.pushes

  name  = "${local.topic_prefix}${each.key}-${each.value}"
  topic = google_pubsub_topic.topic[each.key].id

  ack_deadline_seconds       = var.subscriptions.ack_deadline_seconds
  message_retention_duration = var.subscriptions.retention

  expiration_policy {
    ttl = "" # never, however long nobody publishes
  }

  push_config {
    push_endpoint = google_cloudfunctions2_function.function[each.value].service_config[0].uri

    oidc_token {
      service_account_email = google_service_account.account["push"].email
      audience              = google_cloudfunctions2_function.function[each.value].service_config[0].uri
    }
  }

  retry_policy {
    minimum_backoff = var.subscriptions.minimum_backoff
    maximum_backoff = var.subscriptions.maximum_backoff
  }

  dead_letter_policy {
    dead_letter_topic     = google_pubsub_topic.topic["dead-letters"].id
    max_delivery_attempts = var.subscriptions.max_delivery_attempts
  }

  # Delivery begins when it can succeed.
  depends_on = [
    google_cloud_run_v2_service_iam_member.invoker,
    google_pubsub_topic_iam_member.publisher,
    google_service_account_iam_member.push_token,
  ]
}

# Dead letters go straight into a table, without code that could fail on them again.
resource "google_pubsub_subscription" "dead_letters" {
  name  = "${local.topic_prefix}dead-letters-bigquery"
  topic = google_pubsub_topic.topic["dead-letters"].id

  ack_deadline_seconds       = 60
  message_retention_duration = "2678400s" # 31 days: time to repair whatever stops the table from being written

  expiration_policy {
    ttl = ""
  }

  bigquery_config {
    table          = "${var.project_id}.${google_bigquery_table.table["dead_letters"].dataset_id}.${google_bigquery_table.table["dead_letters"].table_id}"
    write_metadata = true
  }

  retry_policy {
    minimum_backoff = "10s"
    maximum_backoff = "600s"
  }

  depends_on = [google_bigquery_table_iam_member.dead_letters]
}
