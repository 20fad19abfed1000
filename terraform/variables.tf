# The two that have no default.

variable "project_id" {
  description = "Project that everything is created in."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{4,28}[a-z0-9]$", var.project_id))
    error_message = "project_id is the project's id (6 to 30 of a-z, 0-9 and -), not its name or number: see `gcloud projects list`."
  }
}

variable "region" {
  description = "Region of the functions, the queues, the jobs and (unless told otherwise) the data."
  type        = string

  validation {
    condition     = can(regex("^[a-z]+-[a-z]+[0-9]+$", var.region))
    error_message = "region is a region such as europe-west1, not a zone or a multi-region: see `gcloud run regions list`."
  }
}

# Names and safety.

variable "prefix" {
  description = "Put before every name, so that several deployments share a project."
  type        = string
  default     = ""
  nullable    = false

  validation {
    condition     = can(regex("^([a-z][a-z0-9-]{0,8}[a-z0-9])?$", var.prefix))
    error_message = "prefix is empty or 2 to 10 of a-z, 0-9 and -, beginning with a letter: service account ids have no more room."
  }
}

variable "deletion_protection" {
  description = "Refuse to destroy or replace tables and the database. Turn off, apply, and only then destroy."
  type        = bool
  default     = true
  nullable    = false
}

# Data.

variable "bigquery" {
  description = "Dataset. `location` is the region unless set; `max_time_travel_hours` bounds how long a join may stand still; an empty `reconciliation_schedule` turns the comparison off."
  type = object({
    location                  = optional(string)
    max_time_travel_hours     = optional(number, 168)
    storage_billing_model     = optional(string, "LOGICAL")
    events_partitioning       = optional(string, "DAY")
    events_expiration_days    = optional(number)
    create_reference          = optional(bool, true)
    reconciliation_schedule   = optional(string, "every day 04:00")
    joins_may_read            = optional(set(string), [])
    dead_letters_kept_days    = optional(number)
    summaries_expiration_days = optional(number)
  })
  default  = {}
  nullable = false

  validation {
    condition     = var.bigquery.max_time_travel_hours >= 48 && var.bigquery.max_time_travel_hours <= 168
    error_message = "bigquery.max_time_travel_hours is 48 to 168; BigQuery keeps no longer history."
  }
  validation {
    condition     = contains(["DAY", "HOUR"], var.bigquery.events_partitioning)
    error_message = "bigquery.events_partitioning is DAY or HOUR."
  }
  validation {
    condition = (
      var.bigquery.events_partitioning != "HOUR" ||
      try(var.bigquery.events_expiration_days <= 400, false)
    )
    error_message = "HOUR partitions need bigquery.events_expiration_days of at most 400: a table has at most 10,000 partitions."
  }
  validation {
    condition = alltrue([
      for dataset in var.bigquery.joins_may_read : can(regex("^[a-z][a-z0-9-]+\\.[A-Za-z0-9_]+$", dataset))
    ])
    error_message = "bigquery.joins_may_read holds datasets as project.dataset, for example my-project.warehouse."
  }
}

variable "firestore" {
  description = "State database. STANDARD charges per document whatever its size, ENTERPRISE per KiB: docs/costs.md says when which is cheaper."
  type = object({
    location               = optional(string)
    edition                = optional(string, "STANDARD")
    point_in_time_recovery = optional(bool, false)
  })
  default  = {}
  nullable = false

  validation {
    condition     = contains(["STANDARD", "ENTERPRISE"], var.firestore.edition)
    error_message = "firestore.edition is STANDARD or ENTERPRISE. It cannot be changed later without a new database."
  }
}

# Messages.

variable "subscriptions" {
  description = "Delivery of events and completions. Only a message that fails this often, or for this long, becomes a dead letter."
  type = object({
    ack_deadline_seconds  = optional(number, 90)
    retention             = optional(string, "604800s")
    max_delivery_attempts = optional(number, 100)
    minimum_backoff       = optional(string, "10s")
    maximum_backoff       = optional(string, "600s")
  })
  default  = {}
  nullable = false

  validation {
    condition     = var.subscriptions.ack_deadline_seconds > 60 && var.subscriptions.ack_deadline_seconds <= 600
    error_message = "subscriptions.ack_deadline_seconds must be above 60, the functions' timeout, and at most 600: a handler that Pub/Sub gave up on must not still be running."
  }
  validation {
    condition     = var.subscriptions.max_delivery_attempts >= 5 && var.subscriptions.max_delivery_attempts <= 100
    error_message = "subscriptions.max_delivery_attempts is 5 to 100."
  }
}

variable "event_schema" {
  description = "Schema that Pub/Sub holds published events to. Without one, bad events arrive and become dead letters."
  type = object({
    definition = string
    type       = optional(string, "AVRO")
    encoding   = optional(string, "JSON")
  })
  default = null

  validation {
    condition     = try(contains(["AVRO", "PROTOCOL_BUFFER"], var.event_schema.type), var.event_schema == null)
    error_message = "event_schema.type is AVRO or PROTOCOL_BUFFER."
  }
}

variable "publishers" {
  description = "Who may publish events: name = IAM member, for example { shop = \"serviceAccount:shop@my-project.iam.gserviceaccount.com\" }."
  type        = map(string)
  default     = {}
  nullable    = false

  validation {
    condition     = alltrue([for member in values(var.publishers) : !contains(["allUsers", "allAuthenticatedUsers"], member)])
    error_message = "publishers must be named identities; anyone could otherwise write events."
  }
}

variable "submitters" {
  description = "Who may call the submit function: name = IAM member. The queues urgent and bulk always may."
  type        = map(string)
  default     = {}
  nullable    = false

  validation {
    condition     = alltrue([for member in values(var.submitters) : !contains(["allUsers", "allAuthenticatedUsers"], member)])
    error_message = "submitters must be named identities; anyone could otherwise write events."
  }
}

# Functions.

variable "functions" {
  description = "What differs from the defaults in functions.tf, by function: memory, instances, concurrency, ingress."
  type = map(object({
    memory        = optional(string)
    min_instances = optional(number)
    max_instances = optional(number)
    concurrency   = optional(number)
    ingress       = optional(string)
  }))
  default  = {}
  nullable = false

  validation {
    condition     = length(setsubtract(keys(var.functions), ["finish", "ingest", "join", "poll", "submit", "sweep"])) == 0
    error_message = "functions has keys among finish, ingest, join, poll, submit and sweep."
  }
  validation {
    condition     = alltrue([for f in values(var.functions) : try(f.concurrency > 1, true)])
    error_message = "functions.*.concurrency must be above 1: an instance appends the events of many requests at once, which is what makes it cheap."
  }
}

variable "settings" {
  description = "Settings of the functions that differ from their defaults, by environment variable, for example { SILENCE_DEADLINE = \"48h\" }."
  type        = map(string)
  default     = {}
  nullable    = false

  validation {
    condition     = length(setsubtract(keys(var.settings), local.free_settings)) == 0
    error_message = "settings has a name that is unknown or follows from another variable. Free are: ${join(", ", local.free_settings)}."
  }
  validation {
    condition     = can(regex("^\\d{1,9}(ms|s|m|h|d)$", lookup(var.settings, "SILENCE_DEADLINE", "24h")))
    error_message = "settings.SILENCE_DEADLINE is a duration such as 30s, 10m, 24h or 35d."
  }
  validation {
    condition = try(
      tonumber(regex("^(\\d+)d$", lookup(var.settings, "STATE_RETENTION", "35d"))[0]) * 86400 > tonumber(trimsuffix(var.subscriptions.retention, "s")),
      false,
    )
    error_message = "settings.STATE_RETENTION is a number of days such as 35d, and longer than subscriptions.retention: an event that comes again after its key is forgotten counts twice."
  }
}

variable "polling" {
  description = "What watches may look at: jobs of BigQuery in the `job_projects`, and HTTP services with `secrets`, name in the watch = { secret, version } of Secret Manager. Only the function poll is given them; the values never pass through Terraform."
  type = object({
    job_projects = optional(set(string), [])
    secrets = optional(map(object({
      secret  = string
      version = optional(string, "latest")
    })), {})
  })
  default  = {}
  nullable = false

  validation {
    condition     = alltrue([for project in var.polling.job_projects : can(regex("^[a-z][a-z0-9-]{4,28}[a-z0-9]$", project))])
    error_message = "polling.job_projects holds ids of projects, for example my-warehouse."
  }
  validation {
    condition     = alltrue([for name in keys(var.polling.secrets) : can(regex("^[A-Z][A-Z0-9_]{0,99}$", name))])
    error_message = "polling.secrets has names of A-Z, 0-9 and _ as in the watches, for example ORDERS."
  }
}

variable "schedules" {
  description = "Clock of the scheduled work. Paused, it neither joins nor sweeps; nothing is lost meanwhile."
  type = object({
    time_zone = optional(string, "Etc/UTC")
    sweep     = optional(string, "* * * * *")
    paused    = optional(bool, false)
  })
  default  = {}
  nullable = false
}

variable "queues" {
  description = "Rates of the task queues: what they may send to the functions."
  type = object({
    urgent_per_second  = optional(number, 100)
    urgent_concurrent  = optional(number, 200)
    bulk_per_second    = optional(number, 50)
    bulk_concurrent    = optional(number, 100)
    polling_per_second = optional(number, 50)
    polling_concurrent = optional(number, 100)
  })
  default  = {}
  nullable = false
}

# Watching.

variable "alerts" {
  description = "Where alarms go and when they go off. Without channels, incidents are only listed in the console."
  type = object({
    emails                  = optional(set(string), [])
    channels                = optional(set(string), [])
    oldest_unacked_seconds  = optional(number, 600)
    join_lag_seconds        = optional(number, 1800)
    error_ratio             = optional(number, 0.05)
    queue_depth             = optional(number, 10000)
    runbook_url             = optional(string, "docs/operations")
    silent_schedule_seconds = optional(number, 3600)
    watch_failure_ratio     = optional(number, 0.5)
  })
  default  = {}
  nullable = false
}

variable "budget" {
  description = "Monthly budget of the project, with warnings at 50, 90 and 100 percent. It warns; it stops nothing."
  type = object({
    billing_account = string
    units           = number
    currency        = optional(string)
  })
  default = null
}
