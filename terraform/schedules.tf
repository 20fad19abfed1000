# What runs by the clock: one job for each folder of joins/, and the sweep.

locals {
  joins = {
    for file in fileset(local.root, "joins/*/join.json") :
    basename(dirname(file)) => merge(
      { schedule = "*/2 * * * *", topic = "results" },
      jsondecode(file("${local.root}/${file}")),
    )
  }
}

resource "google_cloud_scheduler_job" "join" {
  for_each = local.joins

  name             = "${local.name}-join-${each.key}"
  description      = "Joins new events: joins/${each.key}"
  schedule         = each.value.schedule
  time_zone        = var.schedules.time_zone
  paused           = var.schedules.paused
  attempt_deadline = "600s" # longer than the function's timeout

  # The next tick is the retry: it takes up where this one stopped.
  retry_config {
    retry_count = 0
  }

  http_target {
    uri         = google_cloudfunctions2_function.function["join"].service_config[0].uri
    http_method = "POST"
    headers     = { "Content-Type" = "application/json" }
    body        = base64encode(jsonencode({ join = each.key }))

    oidc_token {
      service_account_email = google_service_account.account["scheduler"].email
      audience              = google_cloudfunctions2_function.function["join"].service_config[0].uri
    }
  }

  lifecycle {
    precondition {
      condition     = !contains(local.own_topics, each.value.topic)
      error_message = "joins/${each.key}/join.json: topic ${each.value.topic} is Codaflow's own; joined rows need a topic of their own, such as results."
    }
    precondition {
      condition     = can(regex("^[a-z][a-z0-9_]{0,62}$", each.key)) && fileexists("${local.root}/joins/${each.key}/query.sql")
      error_message = "joins/${each.key} needs a name of a-z, 0-9 and _, and a query.sql beside join.json."
    }
  }

  depends_on = [google_cloud_run_v2_service_iam_member.invoker]
}

resource "google_cloud_scheduler_job" "sweep" {
  name             = "${local.name}-sweep"
  description      = "Wakes keys and polled items whose time has come"
  schedule         = var.schedules.sweep
  time_zone        = var.schedules.time_zone
  paused           = var.schedules.paused
  attempt_deadline = "90s"

  retry_config {
    retry_count = 0
  }

  http_target {
    uri         = google_cloudfunctions2_function.function["sweep"].service_config[0].uri
    http_method = "POST"
    headers     = { "Content-Type" = "application/json" }
    body        = base64encode("{}")

    oidc_token {
      service_account_email = google_service_account.account["scheduler"].email
      audience              = google_cloudfunctions2_function.function["sweep"].service_config[0].uri
    }
  }

  depends_on = [google_cloud_run_v2_service_iam_member.invoker]
}
