import { http } from '@google-cloud/functions-framework';

/** Nothing but the framework. */
http('ceiling', (_request, response) => {
  response.status(204).end();
});
