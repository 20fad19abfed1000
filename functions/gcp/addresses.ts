import { lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { PermanentError } from '../core/errors.ts';

/** Networks that no probe has business in: this host, private ones, link-local (metadata), shared, multicast, reserved. */
const INSIDE = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  INSIDE.addSubnet(network, prefix, 'ipv4');
}

/** Of IPv6 only what is routed in public, less what wraps an IPv4 address or is for documentation. */
const PUBLIC = new BlockList();
PUBLIC.addSubnet('2000::', 3, 'ipv6');
const WRAPPING = new BlockList();
for (const [network, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  WRAPPING.addSubnet(network, prefix, 'ipv6');
}

/** Whether an address is one of the public internet. */
export function isPublic(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !INSIDE.check(address, 'ipv4');
  if (version !== 6 || address.includes('%')) return false;
  return PUBLIC.check(address, 'ipv6') && !WRAPPING.check(address, 'ipv6');
}

/** Link-local addresses. Whoever asks the metadata server from inside is given the function's own credentials. */
const LINK_LOCAL = new BlockList();
LINK_LOCAL.addSubnet('169.254.0.0', 16, 'ipv4');
LINK_LOCAL.addSubnet('fe80::', 10, 'ipv6');
LINK_LOCAL.addAddress('fd20:ce::254', 'ipv6');

/** Whether a probe may call an address: a public one, or any that is not link-local where private ones are allowed. */
export function mayCall(address: string, isPrivateAllowed: boolean): boolean {
  if (!isPrivateAllowed) return isPublic(address);
  return !address.includes('%') && !LINK_LOCAL.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');
}

export function refuseAddress(host: string, address: string, isPrivateAllowed: boolean): PermanentError {
  const why = isPrivateAllowed ? 'is link-local' : 'is not public';
  return new PermanentError('invalid_watch', `${host} has the address ${address}, which ${why}`);
}

/**
 * Resolves like the system does and refuses a name that has an address which may not be called. The connection goes to
 * the very addresses that were checked, so a name that is answered differently the next time gains nothing.
 */
export function checkedLookup(isPrivateAllowed: boolean): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) {
        callback(error, '', 0);
        return;
      }
      const refused = found.find(({ address }) => !mayCall(address, isPrivateAllowed));
      if (refused !== undefined) callback(refuseAddress(hostname, refused.address, isPrivateAllowed), '', 0);
      else if (options.all === true) callback(null, found);
      else callback(null, found[0]!.address, found[0]!.family);
    });
  };
}
