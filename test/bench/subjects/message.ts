export interface FlightEvent {
  readonly event_id: string;
  readonly unique_key: string;
  readonly event_status: string;
  readonly timestamp: string;
  readonly join_key: string;
  readonly payload: object;
}

/** The event in the body of a push request, believed. */
export function readMessage(body: unknown): { event: FlightEvent; messageId: string } {
  const { message } = body as { message: { data: string; messageId: string } };
  const event = JSON.parse(Buffer.from(message.data, 'base64').toString()) as FlightEvent;
  return { event, messageId: message.messageId };
}
