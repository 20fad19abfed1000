variable "project_id" {
  description = "Project of the deployment that is bridged."
  type        = string
}

variable "region" {
  description = "Region of the Kafka cluster."
  type        = string
}

variable "prefix" {
  description = "Prefix of the deployment that is bridged."
  type        = string
  default     = ""
  nullable    = false
}

variable "subnet" {
  description = "Subnet that the brokers and workers are reached from, as projects/PROJECT/regions/REGION/subnetworks/NAME; at least a /22 for the workers."
  type        = string

  validation {
    condition     = can(regex("^projects/[^/]+/regions/[^/]+/subnetworks/[^/]+$", var.subnet))
    error_message = "subnet is projects/PROJECT/regions/REGION/subnetworks/NAME: see `gcloud compute networks subnets list --uri`."
  }
}

variable "cluster" {
  description = "Size of the Kafka cluster and of the Connect workers. Memory is 1 to 8 GiB a vCPU."
  type = object({
    vcpus             = optional(number, 3)
    memory_gib        = optional(number, 6)
    worker_vcpus      = optional(number, 12)
    worker_memory_gib = optional(number, 12)
  })
  default  = {}
  nullable = false

  validation {
    condition     = var.cluster.vcpus >= 3 && var.cluster.worker_vcpus >= 3
    error_message = "cluster needs at least 3 vCPUs for the brokers and 3 for the workers."
  }
}

variable "topics" {
  description = "Kafka topics: where events are read from, where joined rows and summaries are written to."
  type = object({
    events     = optional(string, "events")
    results    = optional(string, "results")
    summaries  = optional(string, "summaries")
    partitions = optional(number, 12)
  })
  default  = {}
  nullable = false
}
