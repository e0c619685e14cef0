import {
  type IpAddress,
  formatIp,
  maskIp,
  parseIp,
  parseMappedIp,
  widthOf,
} from '@berth/kube-cel/library/ip-address';
import type { FieldReporter } from './field-reporter.ts';

/**
 * Reads an address as the API server reads the fields that are older than its strict validation: it ignores leading zeros of
 * IPv4 octets, and reads an IPv4-mapped IPv6 address, in any spelling, as the IPv4 address.
 * Source: k8s.io/apimachinery, pkg/util/validation/ip.go (IsValidIPForLegacyField); k8s.io/utils, net/parse.go (ParseIPSloppy).
 */
export function parseLegacyIp(text: string): IpAddress | undefined {
  const plain = withoutLeadingZeros(text);
  return parseIp(plain) ?? parseMappedIp(plain);
}

/** The address without leading zeros in its IPv4 octets. The groups of an IPv6 address may have them. */
function withoutLeadingZeros(text: string): string {
  const octets = text.slice(text.lastIndexOf(':') + 1);
  if (!octets.includes('.')) return text;
  return text.slice(0, text.length - octets.length) + octets.replace(/(^|\.)0+(?=\d)/g, '$1');
}

/** A range of addresses like `10.0.0.0/8`. */
export interface Cidr {
  /** First address of the range: all bits after the prefix are 0. */
  readonly address: IpAddress;
  /** Length of the prefix in bits. */
  readonly prefix: number;
}

/** Reads the address as `parseLegacyIp` does, and clears its bits after the prefix. */
export function parseLegacyCidr(text: string): Cidr | undefined {
  const match = /^([^/]+)\/(\d{1,3})$/.exec(text);
  const address = match === null ? undefined : parseLegacyIp(match[1] as string);
  const prefix = Number(match?.[2]);
  if (address === undefined || prefix > widthOf(address.family)) return undefined;
  return { address: maskIp(address, prefix), prefix };
}

/** Whether the outer range has all addresses of the inner one. */
export function isWithin(inner: Cidr, outer: Cidr): boolean {
  const { address, prefix } = inner;
  if (address.family !== outer.address.family || prefix < outer.prefix) return false;
  return maskIp(address, outer.prefix).bits === outer.address.bits;
}

const NO_IP = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';

/** Whether the text is an IP address that `parseLegacyIp` reads; reports a problem at the place when it is not. */
export function checkLegacyIp(text: string, at: FieldReporter): boolean {
  if (parseLegacyIp(text) !== undefined) return true;
  at.invalid(text, NO_IP);
  return false;
}

/** Whether the text is a CIDR that `parseLegacyCidr` reads; reports a problem at the place when it is not. */
export function checkLegacyCidr(text: string, at: FieldReporter): boolean {
  if (parseLegacyCidr(text) !== undefined) return true;
  at.invalid(text, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)');
  return false;
}

/**
 * Whether the text is an IP address in canonical form, without leading zeros, and not IPv4-mapped; reports a problem at the
 * place when it is not. Source: k8s.io/apimachinery, pkg/util/validation/ip.go (IsValidIP).
 */
export function checkCanonicalIp(text: string, at: FieldReporter): boolean {
  const problem = canonicalIpProblem(text);
  if (problem !== undefined) at.invalid(text, problem);
  return problem === undefined;
}

function canonicalIpProblem(text: string): string | undefined {
  const ip = parseIp(text);
  if (ip !== undefined) {
    const canonical = formatIp(ip);
    return canonical === text ? undefined : `must be in canonical form (${JSON.stringify(canonical)})`;
  }
  if (parseLegacyIp(text) === undefined) return NO_IP;
  return withoutLeadingZeros(text) !== text
    ? 'must not have leading 0s'
    : 'must not be an IPv4-mapped IPv6 address';
}

const REFUSED_RANGES: readonly (readonly [cidrs: readonly string[], problem: string])[] = [
  [['127.0.0.0/8', '::1/128'], 'may not be in the loopback range (127.0.0.0/8, ::1/128)'],
  [['169.254.0.0/16', 'fe80::/10'], 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'],
  [['224.0.0.0/24', 'ff02::/16'], 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'],
];

/** Reports an address that no endpoint may have. Source: kubernetes, pkg/apis/core/validation (ValidateEndpointIP). */
export function checkEndpointIp(text: string, at: FieldReporter): void {
  const ip = parseLegacyIp(text);
  if (ip === undefined) {
    at.invalid(text, 'must be a valid IP address');
    return;
  }
  if (ip.bits === 0n) at.invalid(text, `may not be unspecified (${text})`);
  const single: Cidr = { address: ip, prefix: widthOf(ip.family) };
  for (const [cidrs, problem] of REFUSED_RANGES) {
    if (cidrs.some((cidr) => isWithin(single, parseLegacyCidr(cidr) as Cidr))) at.invalid(text, problem);
  }
}
