import { rewriteCost, traverseCost } from '../value/cel-cost.ts';
import { CelFailure, CelOpaque, type CelResult, type CelValue } from '../value/cel-value.ts';
import { type CelOverload, overload } from '../value/overload.ts';
import { formatIp, type IpAddress, maskIp, parseIp, widthOf } from './ip-address.ts';

/** The Kubernetes ip and cidr libraries. */
export class CelIp extends CelOpaque {
  readonly typeName = 'net.IP';
  readonly ip: IpAddress;

  constructor(ip: IpAddress) {
    super();
    this.ip = ip;
  }

  equals(other: CelOpaque): boolean {
    return other instanceof CelIp && sameIp(this.ip, other.ip);
  }
}

export class CelCidr extends CelOpaque {
  readonly typeName = 'net.CIDR';
  readonly ip: IpAddress;
  readonly prefix: number;

  constructor(ip: IpAddress, prefix: number) {
    super();
    this.ip = ip;
    this.prefix = prefix;
  }

  equals(other: CelOpaque): boolean {
    return other instanceof CelCidr && this.prefix === other.prefix && sameIp(this.ip, other.ip);
  }
}

const sameIp = (a: IpAddress, b: IpAddress): boolean => a.family === b.family && a.bits === b.bits;

function ipOf(text: string): CelIp | CelFailure {
  const ip = parseIp(text);
  return ip === undefined
    ? new CelFailure(`IP Address ${JSON.stringify(text)} parse error during conversion from string`)
    : new CelIp(ip);
}

function cidrOf(text: string): CelCidr | CelFailure {
  const cidr = readCidr(text);
  return (
    cidr ??
    new CelFailure(`network address parse error during conversion from string: ${JSON.stringify(text)}`)
  );
}

function readCidr(text: string): CelCidr | undefined {
  const match = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(text);
  const ip = match === null ? undefined : parseIp(match[1] ?? '');
  const prefix = Number(match?.[2]);
  return ip === undefined || prefix > widthOf(ip.family) ? undefined : new CelCidr(ip, prefix);
}

function isCanonical(text: string): CelResult {
  const ip = ipOf(text);
  return ip instanceof CelFailure ? ip : formatIp(ip.ip) === text;
}

/** First `length` bits of the address. */
function leading({ family, bits }: IpAddress, length: number): bigint {
  return bits >> BigInt(widthOf(family) - length);
}

const isLoopback = (ip: IpAddress): boolean => (ip.family === 4 ? leading(ip, 8) === 127n : ip.bits === 1n);
const isMulticast = (ip: IpAddress): boolean =>
  ip.family === 4 ? leading(ip, 4) === 0xen : leading(ip, 8) === 0xffn;
const isLinkLocalUnicast = (ip: IpAddress): boolean =>
  ip.family === 4 ? leading(ip, 16) === 0xa9fen : leading(ip, 10) === 0x3fan;
const isLinkLocalMulticast = (ip: IpAddress): boolean =>
  ip.family === 4 ? leading(ip, 24) === 0xe00000n : (leading(ip, 16) & 0xff0fn) === 0xff02n;
const isUnspecified = (ip: IpAddress): boolean => ip.bits === 0n;
const isBroadcast = (ip: IpAddress): boolean => ip.family === 4 && ip.bits === 0xffffffffn;

function isGlobalUnicast(ip: IpAddress): boolean {
  return !(
    isUnspecified(ip) ||
    isBroadcast(ip) ||
    isLoopback(ip) ||
    isMulticast(ip) ||
    isLinkLocalUnicast(ip)
  );
}

function containsIp(cidr: CelCidr, ip: IpAddress): boolean {
  return cidr.ip.family === ip.family && sameIp(maskIp(cidr.ip, cidr.prefix), maskIp(ip, cidr.prefix));
}

function containsCidr(outer: CelCidr, inner: CelCidr): boolean {
  return outer.prefix <= inner.prefix && containsIp(outer, inner.ip);
}

const test = (name: string, holds: (ip: IpAddress) => boolean): CelOverload =>
  overload(`net.IP.${name}(): bool`, (ip: CelIp) => holds(ip.ip));

const IPS: readonly CelOverload[] = [
  overload('ip(string): net.IP', ipOf, traverseCost),
  overload('isIP(string): bool', (text: string) => parseIp(text) !== undefined, traverseCost),
  overload('ip.isCanonical(string): bool', isCanonical, rewriteCost),
  overload('string(net.IP): string', ({ ip }: CelIp) => formatIp(ip)),
  overload('net.IP.family(): int', ({ ip }: CelIp) => BigInt(ip.family)),
  test('isUnspecified', isUnspecified),
  test('isLoopback', isLoopback),
  test('isLinkLocalMulticast', isLinkLocalMulticast),
  test('isLinkLocalUnicast', isLinkLocalUnicast),
  test('isGlobalUnicast', isGlobalUnicast),
];

/** Cost of comparing the bytes of the prefix. */
function prefixCost(cidr: CelValue | undefined, times: number): number {
  const bytes = cidr instanceof CelCidr ? Math.ceil(cidr.prefix / 8) : 1;
  return Math.ceil(bytes * times * 0.1);
}

/** Cost of comparing two ranges, which also masks the second one. */
function withinCost(cidr: CelValue | undefined): number {
  return prefixCost(cidr, 2) + prefixCost(cidr, 1) + 1;
}

const CIDRS: readonly CelOverload[] = [
  overload('cidr(string): net.CIDR', cidrOf, traverseCost),
  overload('isCIDR(string): bool', (text: string) => readCidr(text) !== undefined, traverseCost),
  overload('string(net.CIDR): string', (cidr: CelCidr) => `${formatIp(cidr.ip)}/${cidr.prefix}`),
  overload('net.CIDR.ip(): net.IP', (cidr: CelCidr) => new CelIp(cidr.ip)),
  overload(
    'net.CIDR.masked(): net.CIDR',
    (cidr: CelCidr) => new CelCidr(maskIp(cidr.ip, cidr.prefix), cidr.prefix),
  ),
  overload('net.CIDR.prefixLength(): int', (cidr: CelCidr) => BigInt(cidr.prefix)),
  overload(
    'net.CIDR.containsIP(net.IP): bool',
    (cidr: CelCidr, ip: CelIp) => containsIp(cidr, ip.ip),
    ([cidr]) => prefixCost(cidr, 2),
  ),
  overload(
    'net.CIDR.containsIP(string): bool',
    (cidr: CelCidr, text: string): CelResult => {
      const ip = ipOf(text);
      return ip instanceof CelFailure ? ip : containsIp(cidr, ip.ip);
    },
    ([cidr, text]) => prefixCost(cidr, 2) + traverseCost([text ?? null]),
  ),
  overload('net.CIDR.containsCIDR(net.CIDR): bool', containsCidr, ([cidr]) => withinCost(cidr)),
  overload(
    'net.CIDR.containsCIDR(string): bool',
    (outer: CelCidr, text: string): CelResult => {
      const inner = cidrOf(text);
      return inner instanceof CelFailure ? inner : containsCidr(outer, inner);
    },
    ([cidr, text]) => withinCost(cidr) + traverseCost([text ?? null]),
  ),
];

export const NETWORK: readonly CelOverload[] = [...IPS, ...CIDRS];
