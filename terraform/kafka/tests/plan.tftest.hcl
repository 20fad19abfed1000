mock_provider "google" {
  mock_data "google_project" {
    defaults = {
      number = "123456789012"
    }
  }
}

variables {
  project_id = "demo-project"
  region     = "europe-west1"
  subnet     = "projects/demo-project/regions/europe-west1/subnetworks/default"
}

run "bridges_the_default_deployment" {
  command = plan

  assert {
    condition     = google_managed_kafka_connector.sink.configs["cps.topic"] == "events"
    error_message = "Kafka's events go to the topic of the events."
  }
  assert {
    condition     = google_managed_kafka_connector.sink.configs["headers.publish"] == "true"
    error_message = "The header event_id must arrive as an attribute: it is the event's identity."
  }
  assert {
    condition     = google_managed_kafka_connector.source["results"].configs["cps.subscription"] == "results-kafka"
    error_message = "Results come back from a subscription of their own."
  }
  assert {
    condition     = length(google_pubsub_subscription_iam_member.source) == 4
    error_message = "The workers may read both subscriptions."
  }
}

run "bridges_a_prefixed_deployment" {
  command = plan

  variables {
    prefix = "staging"
  }
  assert {
    condition     = google_managed_kafka_connector.sink.configs["cps.topic"] == "staging-events"
    error_message = "The prefix is that of the deployment."
  }
}

run "refuses_subnet_name" {
  command = plan

  variables {
    subnet = "default"
  }
  expect_failures = [var.subnet]
}

run "refuses_small_cluster" {
  command = plan

  variables {
    cluster = { vcpus = 1 }
  }
  expect_failures = [var.cluster]
}
