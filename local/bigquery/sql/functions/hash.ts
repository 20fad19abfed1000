import { coerce } from '../coerce.ts';
import { argument, arity, simple, type Builder } from './builder.ts';

/** A hash of the bytes of a STRING or BYTES, as BYTES. */
const hash =
  (duckdb: string): Builder =>
  (call) => {
    arity(call, 1);
    const value = argument(call, 0);
    const sql = value.type === 'BYTES' ? value.sql : coerce(call.scope, value, 'STRING', call.pos).sql;
    return { sql: `unhex(${duckdb}(${sql}))`, type: 'BYTES' };
  };

export const HASHES: Record<string, Builder> = {
  SHA256: hash('sha256'),
  SHA1: hash('sha1'),
  MD5: hash('md5'),
  TO_HEX: simple('BYTES', 'STRING', (b) => `lower(hex(${b ?? ''}))`),
  FROM_HEX: simple('STRING', 'BYTES', (s) => `unhex(${s ?? ''})`),
  TO_BASE64: simple('BYTES', 'STRING', (b) => `base64(${b ?? ''})`),
  FROM_BASE64: simple('STRING', 'BYTES', (s) => `from_base64(${s ?? ''})`),
  SAFE_CONVERT_BYTES_TO_STRING: simple(
    'BYTES',
    'STRING',
    (b) => `CASE WHEN TRY(decode(${b ?? ''})) IS NOT NULL THEN decode(${b ?? ''})
    WHEN ${b ?? ''} IS NOT NULL THEN error('SAFE_CONVERT_BYTES_TO_STRING of bytes that are no UTF-8 is not supported by the local BigQuery') END`,
  ),
};
