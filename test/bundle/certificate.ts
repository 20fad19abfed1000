import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** Why there is no certificate to be had, if so. */
export const withoutOpenssl: string | false =
  spawnSync('openssl', ['version']).error === undefined ? false : 'NOT CHECKED: no openssl here';
if (withoutOpenssl !== false) console.error(`\n*** credentials of the bundle are ${withoutOpenssl} ***\n`);

/** Makes a certificate for Google's endpoints, signed by itself. `file` is the certificate alone, for those who trust it. */
export function makeCertificate(folder: string): {
  readonly file: string;
  readonly key: Buffer;
  readonly cert: Buffer;
} {
  const [file, keyFile] = [path.join(folder, 'cert.pem'), path.join(folder, 'key.pem')];
  const made = spawnSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
      ...['-subj', '/CN=googleapis.com', '-addext', 'subjectAltName=DNS:*.googleapis.com'],
      ...['-keyout', keyFile, '-out', file],
    ],
    { encoding: 'utf8' },
  );
  if (made.status !== 0) throw new Error(made.stderr);
  return { file, key: readFileSync(keyFile), cert: readFileSync(file) };
}
