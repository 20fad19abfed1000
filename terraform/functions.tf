# The six functions. They share the source and differ in entry point, identity, limits and callers.

locals {
  # `callers` are the accounts that may invoke it: the only ones.
  functions = {
    ingest = { callers = ["push"], timeout = 60, max_instances = 20, concurrency = 80 }
    finish = { callers = ["push"], timeout = 60, max_instances = 20, concurrency = 80 }
    submit = { callers = ["tasks"], timeout = 60, max_instances = 20, concurrency = 80 }
    poll   = { callers = ["push", "tasks"], timeout = 60, max_instances = 10, concurrency = 40 }
    # Its lease lets one run of a join at a time; instances are for different joins.
    join = { callers = ["scheduler"], timeout = 540, max_instances = 5, concurrency = 4 }
    # Two may overlap without harm: a wake-up is pushed back before it is acted on.
    sweep = { callers = ["scheduler"], timeout = 60, max_instances = 2, concurrency = 4 }
  }

  # How Node.js runs. With 512 MiB V8 would give new objects 1 MiB, and copy what lives as long as a request over and over.
  # The build leaves compiled code beside package.json.
  node = {
    NODE_OPTIONS       = "--max-semi-space-size=16"
    NODE_COMPILE_CACHE = ".compile-cache"
  }

  # What follows from other variables; the names are those of functions/settings.ts.
  environment = {
    PROJECT_ID                  = var.project_id
    DATASET                     = google_bigquery_dataset.codaflow.dataset_id
    LOCATION                    = google_bigquery_dataset.codaflow.location
    FIRESTORE_DATABASE          = google_firestore_database.codaflow.name
    EVENTS_TOPIC                = google_pubsub_topic.topic["events"].name
    COMPLETIONS_TOPIC           = google_pubsub_topic.topic["completions"].name
    SUMMARIES_TOPIC             = google_pubsub_topic.topic["summaries"].name
    DEAD_LETTERS_TOPIC          = google_pubsub_topic.topic["dead-letters"].name
    RESULTS_TOPIC               = "${local.topic_prefix}results"
    REGION                      = var.region
    POLL_QUEUE                  = "${local.name}-poll"
    EVENTS_PARTITIONING         = var.bigquery.events_partitioning
    EVENTS_PARTITION_EXPIRATION = "${coalesce(var.bigquery.events_expiration_days, 0)}d"
    TIME_TRAVEL                 = "${var.bigquery.max_time_travel_hours}h"
    MAX_DELIVERY_ATTEMPTS       = tostring(var.subscriptions.max_delivery_attempts)
  }

  # What `settings` may hold.
  free_settings = [
    "AGE_DEADLINE", "CLAIM", "COMPLETION_STATUSES", "EVENT_FIELDS", "GRACE", "GROUP_BUDGET", "GROUP_BYTES",
    "GROUP_EVENTS", "GROUP_KEYS", "IDS_INLINE", "JOIN_BUDGET", "JOIN_LAG", "JOIN_LEASE", "JOIN_LOOKBACK", "JOIN_PAGE",
    "JOIN_STEP", "JOIN_WAIT", "MAX_BYTES_BILLED", "PENDING_BYTES", "POLL_URL", "PORT_DEADLINE", "PROBE_HOSTS",
    "PROBE_PRIVATE", "REQUEST_BUDGET", "SETTLE", "SETTLE_MAX", "SILENCE_DEADLINE", "STATE_RETENTION", "STEPS_BYTES",
    "STEPS_KEPT", "SUMMARY_FIELDS", "SWEEP_PAGE", "TIME_TRAVEL_MARGIN", "WAKE_SHARDS", "WATCH_SLACK",
  ]
}

resource "google_cloudfunctions2_function" "function" {
  for_each = local.functions

  name        = "${local.name}-${each.key}"
  location    = var.region
  description = local.accounts[each.key]

  build_config {
    runtime           = "nodejs24"
    entry_point       = each.key
    service_account   = google_service_account.account["build"].id
    docker_repository = google_artifact_registry_repository.images.id

    source {
      storage_source {
        bucket = google_storage_bucket.source.name
        object = google_storage_bucket_object.source.name
      }
    }
  }

  service_config {
    service_account_email = google_service_account.account[each.key].email

    # A whole CPU: below that an instance may serve only one request at a time.
    available_cpu                    = "1"
    available_memory                 = try(coalesce(var.functions[each.key].memory), "512Mi")
    min_instance_count               = try(coalesce(var.functions[each.key].min_instances), 0)
    max_instance_count               = try(coalesce(var.functions[each.key].max_instances), each.value.max_instances)
    max_instance_request_concurrency = try(coalesce(var.functions[each.key].concurrency), each.value.concurrency)
    timeout_seconds                  = each.value.timeout

    # Pub/Sub, Cloud Scheduler and Cloud Tasks of this project count as internal.
    ingress_settings = try(coalesce(var.functions[each.key].ingress), "ALLOW_INTERNAL_ONLY")

    environment_variables = merge(local.node, local.environment, var.settings)

    dynamic "secret_environment_variables" {
      for_each = each.key == "poll" ? var.polling.secrets : {}
      content {
        key        = "PROBE_SECRET_${secret_environment_variables.key}"
        project_id = var.project_id
        secret     = secret_environment_variables.value.secret
        version    = secret_environment_variables.value.version
      }
    }
  }

  depends_on = [
    google_artifact_registry_repository_iam_member.build,
    google_project_iam_member.build_logs,
    google_project_iam_member.build_sources,
    google_secret_manager_secret_iam_member.poll,
    google_storage_bucket_iam_member.build,
  ]
}
