import { StringDecoder } from 'node:string_decoder';
import type { BigQuery } from '@google-cloud/bigquery';
import { toError } from '../core/errors.ts';

interface Refusal {
  readonly error?: { readonly message?: string; readonly errors?: readonly { readonly reason?: string }[] };
}

/**
 * A GET of BigQuery's REST API with a large answer. The client's `request` has it as bytes, once more as bytes, as text
 * and as a value, which it copies deeply. As a stream, it is one text and one value. Rejects as `request` does, with the
 * HTTP status as `code` and with `errors`. The client must not repeat (`autoRetry: false`).
 */
export function getLarge<T>(client: BigQuery, uri: string, qs: object): Promise<T> {
  return new Promise((resolve, reject) => {
    const decoder = new StringDecoder('utf8');
    const parts: string[] = [];
    let status = 0;
    client
      .requestStream({ method: 'GET', uri, qs })
      .on('response', (response: { readonly statusCode: number }) => (status = response.statusCode))
      .on('error', reject)
      .on('data', (chunk: Buffer) => {
        parts.push(decoder.write(chunk));
        release(chunk);
      })
      .on('end', () => {
        parts.push(decoder.end());
        const text = parts.join('');
        try {
          if (status === 200) resolve(JSON.parse(text) as T);
          else reject(refusal(status, text));
        } catch (error) {
          reject(toError(error));
        }
      });
  });
}

/**
 * Gives the memory of a chunk back at once. V8 frees it when it next collects, and each megabyte that waits for it
 * outside of the heap brings the next marking of the whole heap nearer.
 */
function release(chunk: Buffer): void {
  // Small chunks may share their memory.
  if (chunk.byteLength === chunk.buffer.byteLength) (chunk.buffer as ArrayBuffer).transfer(0);
}

function refusal(status: number, text: string): Error {
  let error: Refusal['error'];
  try {
    error = (JSON.parse(text) as Refusal).error;
  } catch {
    // A proxy answers in its own words.
  }
  return Object.assign(new Error(error?.message ?? `status ${status}`), { code: status, errors: error?.errors ?? [] });
}
