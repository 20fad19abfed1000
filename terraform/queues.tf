# Task queues: `poll` re-arms the polling of items; `urgent` and `bulk` take delayed or rate-limited writes for `submit`.
# Cloud Tasks has no priorities inside a queue, hence two: urgent writes never stand behind a mass of others.
# The queue, not the task, says who is called and as whom: whoever adds a task can reach nothing else.

locals {
  queues = {
    poll   = { function = "poll", per_second = var.queues.polling_per_second, concurrent = var.queues.polling_concurrent }
    urgent = { function = "submit", per_second = var.queues.urgent_per_second, concurrent = var.queues.urgent_concurrent }
    bulk   = { function = "submit", per_second = var.queues.bulk_per_second, concurrent = var.queues.bulk_concurrent }
  }
}

resource "google_cloud_tasks_queue" "queue" {
  for_each = local.queues

  name     = "${local.name}-${each.key}"
  location = var.region

  rate_limits {
    max_dispatches_per_second = each.value.per_second
    max_concurrent_dispatches = each.value.concurrent
  }

  # Cloud Tasks has no dead letter: a task that runs out of attempts is deleted. So it tries for seven days; long before
  # that `submit` itself dead-letters what still fails, as `ingest` does (max_delivery_attempts).
  retry_config {
    max_attempts       = -1
    max_retry_duration = "604800s"
    min_backoff        = "10s"
    max_backoff        = "600s"
    max_doublings      = 6
  }

  http_target {
    http_method = "POST"

    uri_override {
      scheme                    = "HTTPS"
      host                      = trimprefix(google_cloudfunctions2_function.function[each.value.function].service_config[0].uri, "https://")
      uri_override_enforce_mode = "ALWAYS"
    }
    oidc_token {
      service_account_email = google_service_account.account["tasks"].email
      audience              = google_cloudfunctions2_function.function[each.value.function].service_config[0].uri
    }
  }

  stackdriver_logging_config {
    sampling_ratio = 0.01
  }

  depends_on = [google_cloud_run_v2_service_iam_member.invoker]
}
