/** IP addresses as numbers; the text rules are those of the Kubernetes CEL libraries (no zones, no IPv4-mapped IPv6). */
export interface IpAddress {
  readonly family: 4 | 6;
  /** 32 or 128 bits. */
  readonly bits: bigint;
}

export function parseIp(text: string): IpAddress | undefined {
  return text.includes(':') ? parseIpv6(text) : parseIpv4(text);
}

function parseIpv4(text: string): IpAddress | undefined {
  const parts = text.split('.');
  if (parts.length !== 4) return undefined;
  let bits = 0n;
  for (const part of parts) {
    if (!/^(0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return undefined;
    bits = (bits << 8n) | BigInt(part);
  }
  return { family: 4, bits };
}

function parseIpv6(text: string): IpAddress | undefined {
  const bits = ipv6Bits(text);
  // ::ffff:1.2.3.4 is refused: two spellings of one address would compare unequal.
  return bits === undefined || isMapped(bits) ? undefined : { family: 6, bits };
}

/** The IPv4 address that an IPv4-mapped IPv6 address means (`::ffff:1.2.3.4`, `::ffff:102:304`). */
export function parseMappedIp(text: string): IpAddress | undefined {
  const bits = text.includes(':') ? ipv6Bits(text) : undefined;
  return bits === undefined || !isMapped(bits) ? undefined : { family: 4, bits: bits & 0xffff_ffffn };
}

function isMapped(bits: bigint): boolean {
  return bits >> 32n === 0xffffn;
}

function ipv6Bits(text: string): bigint | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const head = groups(halves[0] ?? '');
  const tail = halves.length === 2 ? groups(halves[1] ?? '') : [];
  if (head === undefined || tail === undefined) return undefined;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const all = [...head, ...Array.from({ length: missing }, () => 0), ...tail];
  return all.reduce((sum, group) => (sum << 16n) | BigInt(group), 0n);
}

/** 16-bit groups; the last may be written as an IPv4 address. */
function groups(text: string): number[] | undefined {
  if (text === '') return [];
  const out: number[] = [];
  const parts = text.split(':');
  for (const [i, part] of parts.entries()) {
    if (part.includes('.') && i === parts.length - 1) {
      const ipv4 = parseIpv4(part);
      if (ipv4 === undefined) return undefined;
      out.push(Number(ipv4.bits >> 16n), Number(ipv4.bits & 0xffffn));
    } else if (/^[0-9a-fA-F]{1,4}$/.test(part)) out.push(Number.parseInt(part, 16));
    else return undefined;
  }
  return out;
}

/** Canonical text (RFC 5952 for IPv6). */
export function formatIp({ family, bits }: IpAddress): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 0xffn).join('.');
  const words = Array.from({ length: 8 }, (_, i) => Number((bits >> BigInt(112 - 16 * i)) & 0xffffn));
  const gap = longestZeroRun(words);
  const print = (part: readonly number[]): string => part.map((word) => word.toString(16)).join(':');
  if (gap === undefined) return print(words);
  return `${print(words.slice(0, gap.start))}::${print(words.slice(gap.end))}`;
}

function longestZeroRun(words: readonly number[]): { start: number; end: number } | undefined {
  let best: { start: number; end: number } | undefined;
  for (let start = 0; start < words.length; start++) {
    let end = start;
    while (words[end] === 0) end++;
    if (end - start >= 2 && end - start > (best === undefined ? 1 : best.end - best.start))
      best = { start, end };
  }
  return best;
}

export function widthOf(family: 4 | 6): number {
  return family === 4 ? 32 : 128;
}

/** The address with everything after the first `prefix` bits cleared. */
export function maskIp(ip: IpAddress, prefix: number): IpAddress {
  const drop = BigInt(widthOf(ip.family) - prefix);
  return { family: ip.family, bits: (ip.bits >> drop) << drop };
}
