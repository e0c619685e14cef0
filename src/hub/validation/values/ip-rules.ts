import type { IpAddress } from '../../../core/cel/library/ip-address.ts';
import { formatIp, maskIp, parseIp, widthOf } from '../../../core/cel/library/ip-address.ts';
import type { Place } from './place.ts';

/** As an API server reads older fields: leading zeros do not count, an IPv4 address may be written as IPv6. */
export function parseLegacyIp(text: string): IpAddress | undefined {
  const plain = text.replace(/^::ffff:(?=[\d.]+$)/i, '');
  return parseIp(plain.includes(':') ? plain : plain.replace(/(^|\.)0+(?=\d)/g, '$1'));
}

/** A prefix like `10.0.0.0/8`; the address is masked. */
export interface Cidr {
  readonly address: IpAddress;
  readonly prefix: number;
}

export function parseLegacyCidr(text: string): Cidr | undefined {
  const match = /^([^/]+)\/(\d{1,3})$/.exec(text);
  const address = match === null ? undefined : parseLegacyIp(match[1] as string);
  const prefix = Number(match?.[2]);
  if (address === undefined || prefix > widthOf(address.family)) return undefined;
  return { address: maskIp(address, prefix), prefix };
}

export function isWithin(inner: Cidr, outer: Cidr): boolean {
  const { address, prefix } = inner;
  if (address.family !== outer.address.family || prefix < outer.prefix) return false;
  return maskIp(address, outer.prefix).bits === outer.address.bits;
}

/** Whether an IP address is there; reports when not. */
export function checkLegacyIp(text: string, at: Place): boolean {
  if (parseLegacyIp(text) !== undefined) return true;
  at.invalid(text, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)');
  return false;
}

export function checkLegacyCidr(text: string, at: Place): boolean {
  if (parseLegacyCidr(text) !== undefined) return true;
  at.invalid(text, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)');
  return false;
}

/** An address in its usual form. */
export function checkIp(text: string, at: Place): boolean {
  const ip = parseIp(text);
  if (ip === undefined) return checkLegacyIp(text, at);
  const usual = formatIp(ip);
  if (usual !== text) at.invalid(text, `must be in canonical form (${JSON.stringify(usual)})`);
  return usual === text;
}

const RANGES: readonly (readonly [cidrs: readonly string[], detail: string])[] = [
  [['127.0.0.0/8', '::1/128'], 'may not be in the loopback range (127.0.0.0/8, ::1/128)'],
  [['169.254.0.0/16', 'fe80::/10'], 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'],
  [['224.0.0.0/24', 'ff02::/16'], 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'],
];

/** An address that traffic can be sent to. Source: pkg/apis/core/validation (ValidateEndpointIP). */
export function checkEndpointIp(text: string, at: Place): void {
  const ip = parseLegacyIp(text);
  if (ip === undefined) {
    at.invalid(text, 'must be a valid IP address');
    return;
  }
  if (ip.bits === 0n) at.invalid(text, `may not be unspecified (${text})`);
  const single: Cidr = { address: ip, prefix: widthOf(ip.family) };
  for (const [cidrs, detail] of RANGES) {
    if (cidrs.some((cidr) => isWithin(single, parseLegacyCidr(cidr) as Cidr))) at.invalid(text, detail);
  }
}
