import { http } from '@google-cloud/functions-framework';
import { PubSub } from '@google-cloud/pubsub';

const topic = new PubSub({ projectId: process.env['PROJECT_ID']! }).topic('results', {
  batching: { maxMilliseconds: 1, maxMessages: 1000, maxBytes: 4 * 2 ** 20 },
});
const PAGE = 1000;

/** Publishes `{count, message}`: so many messages, a page at a time, and nothing else. */
http('publisher', async (request, response) => {
  const { count, message } = request.body as { count: number; message: string };
  for (let from = 0; from < count; from += PAGE) {
    const page = Array.from({ length: Math.min(PAGE, count - from) }, (_, n) =>
      topic.publishMessage({ data: Buffer.from(message), attributes: { id: `${from + n}` } }),
    );
    await Promise.all(page);
  }
  response.status(204).end();
});
