import type { KindInfo } from './model/kinds.ts';

/** `/apis/GROUP/VERSION[/namespaces/NS]/PLURAL[/NAME[/SUBRESOURCE]]`; every part is escaped. */
export function resourcePath(
  kind: KindInfo,
  namespace: string | undefined,
  name?: string,
  subresource?: string,
): string {
  const parts = kind.group === '' ? ['api', kind.version] : ['apis', kind.group, kind.version];
  if (kind.namespaced && namespace !== undefined && namespace !== '') parts.push('namespaces', namespace);
  parts.push(kind.plural);
  if (name !== undefined) parts.push(name);
  if (subresource !== undefined) parts.push(subresource);
  return `/${parts.map(escapeSegment).join('/')}`;
}

function escapeSegment(part: string): string {
  if (PLAIN.test(part)) return part;
  // URL parsing would resolve `.` and `..`, and so address another resource.
  return part === '.' || part === '..' ? part.replaceAll('.', '%252E') : encodeURIComponent(part);
}

/** Joins the parameters that are set as `a=1&b=2`; undefined if none is set. */
export function queryString(
  parameters: Readonly<Record<string, string | number | boolean | undefined>>,
): string | undefined {
  const set = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== '');
  if (set.length === 0) return undefined;
  // Most are plain words, and every write has one, so this case is fast.
  const words = set.every(([, value]) => PLAIN.test(String(value)));
  if (words) return set.map(([name, value]) => `${name}=${String(value)}`).join('&');
  return new URLSearchParams(set.map(([name, value]): [string, string] => [name, String(value)])).toString();
}

/** Characters that need no escaping in a path or a query. */
const PLAIN = /^[A-Za-z0-9_-]+$/;
