import { gunzipSync } from 'node:zlib';
import { PermanentError } from '../errors.ts';
import { MAX_INFLATED } from './limits.ts';

const DECODER = new TextDecoder('utf-8', { fatal: true });

/**
 * The text of a message: inflated when the attribute `content-encoding` says `gzip`, decoded as UTF-8, without a byte
 * order mark.
 *
 * @throws PermanentError empty_data, unsupported_encoding, too_large, invalid_utf8
 */
export function messageText(data: Uint8Array, attributes: Readonly<Record<string, string>>): string {
  if (data.length === 0) {
    throw new PermanentError('empty_data', 'the message has no data: publish the event as the data, not as attributes');
  }
  const bytes = inflate(data, attributes['content-encoding'] ?? '');
  try {
    // Drops the byte order mark.
    return DECODER.decode(bytes);
  } catch (error) {
    const hint =
      bytes[0] === 0x1f && bytes[1] === 0x8b
        ? 'the data looks like gzip: set the attribute content-encoding to gzip'
        : 'the data is not UTF-8: encode the JSON text as UTF-8 before publishing';
    throw new PermanentError('invalid_utf8', hint, error);
  }
}

function inflate(data: Uint8Array, encoding: string): Uint8Array {
  if (encoding === '' || encoding === 'identity') return data;
  if (encoding !== 'gzip') {
    throw new PermanentError(
      'unsupported_encoding',
      `content-encoding ${JSON.stringify(encoding.slice(0, 40))} is not supported: use gzip or none`,
    );
  }
  try {
    return gunzipSync(data, { maxOutputLength: MAX_INFLATED });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw new PermanentError('too_large', `the data inflates to more than ${MAX_INFLATED} bytes`, error);
    }
    throw new PermanentError('unsupported_encoding', 'content-encoding is gzip, but the data is not valid gzip', error);
  }
}
