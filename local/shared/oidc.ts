/** The identity that a push subscription, a job or a task sends along. */
export interface OidcToken {
  readonly serviceAccountEmail: string;
  /** Default: the URL that is called. */
  readonly audience?: string;
}

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Value of the `Authorization` header: a token with Google's claims that expires in an hour, without a signature. */
export function bearer(token: OidcToken, url: string, nowMs: number): string {
  const iat = Math.floor(nowMs / 1000);
  const claims = {
    aud: token.audience || url,
    azp: token.serviceAccountEmail,
    email: token.serviceAccountEmail,
    email_verified: true,
    exp: iat + 3600,
    iat,
    iss: 'https://accounts.google.com',
    sub: token.serviceAccountEmail,
  };
  return `Bearer ${part({ alg: 'none', typ: 'JWT' })}.${part(claims)}.`;
}
