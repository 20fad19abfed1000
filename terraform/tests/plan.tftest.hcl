# Runs with any provider: the real one plans, a mock makes things up.
mock_provider "google" {
  mock_data "google_project" {
    defaults = {
      number = "123456789012"
    }
  }
  mock_resource "google_cloudfunctions2_function" {
    defaults = {
      service_config = {
        uri = "https://codaflow.example.invalid"
      }
    }
  }
}

mock_provider "archive" {}

variables {
  project_id = "demo-project"
  region     = "europe-west1"
}

run "defaults" {
  command = plan

  assert {
    condition     = google_pubsub_topic.topic["events"].name == "events"
    error_message = "Without a prefix the topics have their plain names."
  }
  assert {
    condition     = google_bigquery_dataset.codaflow.location == "europe-west1"
    error_message = "The dataset is in the region of the functions."
  }
  assert {
    condition     = alltrue([for table in google_bigquery_table.table : table.deletion_protection])
    error_message = "Tables are protected."
  }
  assert {
    condition     = google_firestore_database.codaflow.delete_protection_state == "DELETE_PROTECTION_ENABLED"
    error_message = "The database is protected."
  }
  assert {
    condition = alltrue([
      for push in google_pubsub_subscription.push :
      push.ack_deadline_seconds > google_cloudfunctions2_function.function["ingest"].service_config[0].timeout_seconds
    ])
    error_message = "Pub/Sub waits longer than a handler may run."
  }
  assert {
    condition     = length(google_cloud_scheduler_job.join) == length(fileset("../joins", "*/join.json"))
    error_message = "Every folder of joins/ has a job."
  }
  assert {
    condition     = length(google_billing_budget.month) == 0 && length(google_monitoring_notification_channel.email) == 0
    error_message = "Nothing optional is made unasked."
  }
  assert {
    condition     = length(google_project_iam_member.job_reader) == 0 && length(google_secret_manager_secret_iam_member.poll) == 0
    error_message = "poll looks at no jobs and no secrets unasked."
  }
}

run "second_deployment" {
  command = plan

  variables {
    prefix = "staging"
  }

  assert {
    condition     = google_pubsub_topic.topic["events"].name == "staging-events"
    error_message = "Topics carry the prefix."
  }
  assert {
    condition     = google_bigquery_dataset.codaflow.dataset_id == "staging_codaflow"
    error_message = "The dataset carries the prefix."
  }
  assert {
    condition     = google_cloudfunctions2_function.function["join"].service_config[0].environment_variables["RESULTS_TOPIC"] == "staging-results"
    error_message = "The functions are told the prefixed names."
  }
  assert {
    condition     = jsondecode(local.source_files["joins/enrich/join.json"]).topic == "staging-results"
    error_message = "The deployed join publishes to the prefixed topic."
  }
}

run "choices" {
  command = plan

  variables {
    deletion_protection = false
    settings            = { SILENCE_DEADLINE = "48h" }
    functions           = { ingest = { max_instances = 50 } }
    bigquery            = { events_expiration_days = 400, reconciliation_schedule = "" }
    firestore           = { edition = "ENTERPRISE" }
    publishers          = { shop = "serviceAccount:shop@demo-project.iam.gserviceaccount.com" }
    polling             = { job_projects = ["other-project"], secrets = { ORDERS = { secret = "orders-token" } } }
    alerts              = { emails = ["ops@example.com"] }
    budget              = { billing_account = "000000-000000-000000", units = 50 }
    event_schema        = { definition = "{}" }
  }

  assert {
    condition     = google_firestore_database.codaflow.deletion_policy == "DELETE"
    error_message = "Without protection, destroy removes the database."
  }
  assert {
    condition     = length(google_firestore_field.unindexed) == 0
    error_message = "Enterprise has no automatic indexes to exempt from."
  }
  assert {
    condition     = google_cloudfunctions2_function.function["ingest"].service_config[0].max_instance_count == 50
    error_message = "A function's own limits count."
  }
  assert {
    condition     = google_cloudfunctions2_function.function["finish"].service_config[0].max_instance_count == 20
    error_message = "Others keep their defaults."
  }
  assert {
    condition     = google_cloudfunctions2_function.function["ingest"].service_config[0].environment_variables["SILENCE_DEADLINE"] == "48h"
    error_message = "Settings reach the functions."
  }
  assert {
    condition     = google_cloudfunctions2_function.function["ingest"].service_config[0].environment_variables["EVENTS_PARTITION_EXPIRATION"] == "400d"
    error_message = "The functions refuse what the table would drop."
  }
  assert {
    condition = (
      [for secret in google_cloudfunctions2_function.function["poll"].service_config[0].secret_environment_variables : secret.key] == ["PROBE_SECRET_ORDERS"] &&
      alltrue([for name, f in google_cloudfunctions2_function.function : name == "poll" || length(f.service_config[0].secret_environment_variables) == 0])
    )
    error_message = "Secrets are shown to poll, and to no other function."
  }
  assert {
    condition     = google_project_iam_member.job_reader["other-project"].project == "other-project"
    error_message = "poll may look at the jobs of the projects that are named."
  }
  assert {
    condition     = google_pubsub_topic.topic["events"].schema_settings[0].encoding == "JSON"
    error_message = "The schema is attached to the events."
  }
  assert {
    condition     = length(google_bigquery_data_transfer_config.reconciliation) == 0
    error_message = "The daily comparison can be turned off."
  }
}

run "budget_without_channels" {
  command = plan

  variables {
    budget = { billing_account = "000000-000000-000000", units = 50 }
  }

  assert {
    condition     = length(google_billing_budget.month[0].all_updates_rule) == 0
    error_message = "A rule for updates needs somebody to tell."
  }
}

run "refuses_project_name" {
  command = plan
  variables {
    project_id = "My Project"
  }
  expect_failures = [var.project_id]
}

run "refuses_zone" {
  command = plan
  variables {
    region = "europe-west1-b"
  }
  expect_failures = [var.region]
}

run "refuses_long_prefix" {
  command = plan
  variables {
    prefix = "a-much-too-long-prefix"
  }
  expect_failures = [var.prefix]
}

run "refuses_short_ack_deadline" {
  command = plan
  variables {
    subscriptions = { ack_deadline_seconds = 60 }
  }
  expect_failures = [var.subscriptions]
}

run "refuses_public_publisher" {
  command = plan
  variables {
    publishers = { anyone = "allUsers" }
  }
  expect_failures = [var.publishers]
}

run "refuses_public_submitter" {
  command = plan
  variables {
    submitters = { anyone = "allAuthenticatedUsers" }
  }
  expect_failures = [var.submitters]
}

run "refuses_unknown_setting" {
  command = plan
  variables {
    settings = { SILENCE_DEADLIN = "48h" }
  }
  expect_failures = [var.settings]
}

run "refuses_setting_that_is_no_duration" {
  command = plan
  variables {
    settings = { SILENCE_DEADLINE = "2 days" }
  }
  expect_failures = [var.settings]
}

run "refuses_setting_that_follows" {
  command = plan
  variables {
    settings = { EVENTS_TOPIC = "others" }
  }
  expect_failures = [var.settings]
}

run "refuses_secret_that_no_watch_can_name" {
  command = plan
  variables {
    polling = { secrets = { orders = { secret = "orders-token" } } }
  }
  expect_failures = [var.polling]
}

run "refuses_job_project_that_is_none" {
  command = plan
  variables {
    polling = { job_projects = ["My Project"] }
  }
  expect_failures = [var.polling]
}

run "refuses_hours_without_expiration" {
  command = plan
  variables {
    bigquery = { events_partitioning = "HOUR" }
  }
  expect_failures = [var.bigquery]
}

run "refuses_single_concurrency" {
  command = plan
  variables {
    functions = { ingest = { concurrency = 1 } }
  }
  expect_failures = [var.functions]
}

run "refuses_unknown_edition" {
  command = plan
  variables {
    firestore = { edition = "PREMIUM" }
  }
  expect_failures = [var.firestore]
}

run "refuses_unknown_schema_type" {
  command = plan
  variables {
    event_schema = { definition = "{}", type = "JSON" }
  }
  expect_failures = [var.event_schema]
}
