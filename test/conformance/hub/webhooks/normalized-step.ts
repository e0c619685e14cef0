import type { LooseJson } from '../../../../packages/embedded-hub/test/loose-json.ts';
import type { HookServer } from '../../../fakes/hook-server.ts';
import type { StepResult } from './scenario.ts';

interface Raw {
  readonly status: number;
  readonly body: LooseJson;
  readonly warnings: readonly string[];
  readonly asked: readonly { readonly path: string; readonly review: LooseJson }[];
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TIME = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g;
/** Keys have another order here. */
const WHOLE_OBJECT = /(is missing in ').*(?=')/s;
/** A server that has an object in its cache converts it only when it is stored. */
const FROM_VERSION = /(conversion webhook for [^/]+\/)v\d/g;
/** The port that a connection of the server happens to have. */
const CONNECTION = /(read tcp |write tcp )?127\.0\.0\.1:\d+->/g;

/** A step without what is different in each run: identities, times, versions, ports. */
export function normalizedStep(step: string, raw: Raw, hook: HookServer): StepResult {
  const text = (value: string): string =>
    value
      .replaceAll(`127.0.0.1:${String(hook.port)}`, 'HOOK')
      .replaceAll(`localhost:${String(hook.port)}`, 'HOOK')
      .replaceAll(`svc:${String(hook.port)}`, 'svc:PORT')
      .replace(CONNECTION, '$1CLIENT->')
      .replace(WHOLE_OBJECT, '$1OBJECT')
      .replace(FROM_VERSION, '$1VERSION')
      .replace(UUID, 'UID')
      .replace(TIME, 'TIME')
      .replace(/(generated-)[a-z0-9]{5}/g, '$1NAME');
  const plain = (value: LooseJson, key = ''): LooseJson => {
    if (typeof value === 'string') {
      if (key === 'resourceVersion' && value !== '') return 'RV';
      if (key === 'caBundle') return 'CA';
      return text(value);
    }
    if (key === 'port' && value === hook.port) return 'PORT';
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((one) => plain(one));
    const keys = Object.keys(value)
      .filter(
        (name) =>
          name !== 'userInfo' &&
          !(name === 'managedFields' && key === 'metadata' && value.name === undefined),
      )
      .sort();
    return Object.fromEntries(keys.map((name) => [name, plain(value[name], name)]));
  };
  const asked = raw.asked.map(({ path, review }) => ({ path, ...plain(review) }));
  return {
    step: text(step),
    status: raw.status,
    body: plain(raw.body),
    ...(raw.warnings.length > 0 && { warnings: raw.warnings.map(text) }),
    ...(asked.length > 0 && { asked }),
  };
}
