import { readWaveRule, type WaveRule } from '../../src/core/argocd/waves/wave-rule.ts';
import { FACT_MAPS, type FactMap } from './plugin-source.ts';

/** The request of an ApplicationSet, from `input.parameters`. */
export interface PluginRequest {
  readonly applicationSet: string;
  /** Its namespace, if the request contains it: Argo CD itself sends only the name. */
  readonly applicationSetNamespace: string | undefined;
  /** `namespace/name` */
  readonly placement: string;
  /** Only clusters of the decision group with this name. */
  readonly group: string | undefined;
  readonly onEmpty: 'error' | 'allow' | undefined;
  /** Use keys with dots instead of maps in the items: `labels.region`. */
  readonly flat: boolean;
  /** Return an error while the commit is unknown, for templates that use it. */
  readonly requireCommit: boolean;
  /**
   * Nest each item under this key, so that the parameters of two generators in a matrix do not
   * conflict.
   */
  readonly as: string | undefined;
  /** Undefined: the wave of a cluster is the number of its decision group, and the response contains every cluster. */
  readonly waves: WaveRule | undefined;
  /** Keys that these maps have in every item, with an empty value where a cluster has none. For `scores`: `RESOURCE/NAME`. */
  readonly keys: Readonly<Record<FactMap | 'scores', readonly string[]>>;
}

/** Maximum length of a Kubernetes name; longer values would only fill logs and metrics. */
const MAX_NAME_LENGTH = 253;
/** Argo CD overwrites these keys of an item. */
const RESERVED = ['generator', 'values'];

export type ParsedRequest =
  | { readonly ok: true; readonly request: PluginRequest }
  | { readonly ok: false; readonly message: string };

/**
 * Parses the body of `getparams.execute`. A matrix generator may have rendered the values, so each of them may be a
 * string.
 * @param defaultNamespace the namespace of a placement that is named without one
 */
export function parsePluginRequest(body: string, defaultNamespace?: string): ParsedRequest {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return refuse('the body is not JSON');
  }
  const { applicationSetName, input } = asRecord(value);
  const parameters = asRecord(asRecord(input)['parameters']);
  const placement = placementOf(parameters, defaultNamespace);
  const onEmpty = text(parameters['onEmpty']);
  const [flat, requireCommit] = [booleanText(parameters['flat']), booleanText(parameters['requireCommit'])];
  const as = text(parameters['as']);
  const waves = readWaveRule(parameters);
  const problem =
    wrongType(parameters) ??
    placement.problem ??
    wrongChoice('onEmpty', onEmpty, ['error', 'allow']) ??
    wrongChoice('flat', flat, ['true', 'false']) ??
    wrongChoice('requireCommit', requireCommit, ['true', 'false']) ??
    wrongItemKey(as) ??
    (waves.ok ? undefined : waves.message);
  if (problem !== undefined) return refuse(problem);
  return {
    ok: true,
    request: {
      applicationSet: (text(applicationSetName) ?? '').slice(0, MAX_NAME_LENGTH),
      applicationSetNamespace: text(parameters['applicationSetNamespace']),
      placement: placement.name,
      waves: waves.ok ? waves.rule : undefined,
      group: text(parameters['group']),
      onEmpty: onEmpty as PluginRequest['onEmpty'],
      flat: flat === 'true',
      requireCommit: requireCommit === 'true',
      as,
      keys: Object.fromEntries(
        [...FACT_MAPS, 'scores' as const].map((map) => [map, texts(parameters[map])]),
      ) as PluginRequest['keys'],
    },
  };
}

function placementOf(
  parameters: Readonly<Record<string, unknown>>,
  defaultNamespace: string | undefined,
): { readonly name: string; readonly problem?: string } {
  const placement = text(parameters['placement']) ?? '';
  if (placement === '')
    return {
      name: '',
      problem: 'input.parameters.placement is missing: name the placement as NAMESPACE/NAME',
    };
  const namespace = text(parameters['namespace']) ?? defaultNamespace;
  const name = placement.includes('/') || namespace === undefined ? placement : `${namespace}/${placement}`;
  if (/^[^/]+\/[^/]+$/.test(name)) return { name };
  return {
    name,
    problem: `input.parameters.placement must be NAMESPACE/NAME, or come with input.parameters.namespace, got ${JSON.stringify(placement)}`,
  };
}

const TEXTS = ['placement', 'namespace', 'group', 'onEmpty', 'as', 'applicationSetNamespace'];

/** If a parameter of the wrong type were ignored, the response could contain more clusters than requested. */
function wrongType(parameters: Readonly<Record<string, unknown>>): string | undefined {
  for (const [key, value] of Object.entries(parameters)) {
    if (TEXTS.includes(key) && typeof value !== 'string') return wrongValue(key, 'a string', value);
    const isList = key === 'scores' || FACT_MAPS.some((map) => map === key);
    if (isList && !isTextOrTexts(value))
      return wrongValue(key, 'a list of strings, or a string with commas', value);
  }
  return undefined;
}

function isTextOrTexts(value: unknown): boolean {
  return (
    typeof value === 'string' || (Array.isArray(value) && value.every((item) => typeof item === 'string'))
  );
}

function wrongValue(key: string, expected: string, value: unknown): string {
  return `input.parameters.${key} must be ${expected}, got ${JSON.stringify(value)}`;
}

function wrongChoice(key: string, value: string | undefined, choices: readonly string[]): string | undefined {
  if (value === undefined || choices.includes(value)) return undefined;
  const expected = choices.map((choice) => `"${choice}"`).join(' or ');
  return wrongValue(key, expected, value);
}

function wrongItemKey(as: string | undefined): string | undefined {
  if (as === undefined || (/^[A-Za-z]\w{0,62}$/.test(as) && !RESERVED.includes(as))) return undefined;
  return `input.parameters.as must be a word of letters, digits and _ that is not ${RESERVED.join(' or ')}, got ${JSON.stringify(as)}`;
}

function refuse(message: string): ParsedRequest {
  return { ok: false, message };
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value.trim() : undefined;
}

/** A boolean as a string: `true` and `"true"` both give `true`. Other values give text that is no valid choice. */
function booleanText(value: unknown): string | undefined {
  return typeof value === 'boolean'
    ? String(value)
    : value === undefined
      ? undefined
      : JSON.stringify(value).replaceAll('"', '').trim();
}

/** `["a", "b"]` or `"a,b"`. */
function texts(value: unknown): readonly string[] {
  const items = typeof value === 'string' ? value.split(',') : ((value ?? []) as readonly string[]);
  return items.map((item) => item.trim()).filter((item) => item !== '');
}
