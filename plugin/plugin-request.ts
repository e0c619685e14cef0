/** What an ApplicationSet asks for, from `input.parameters`. */
export interface PluginRequest {
  readonly applicationSet: string;
  /** `namespace/name` */
  readonly placement: string;
  /** Only clusters of the decision group with this name. */
  readonly group: string | undefined;
  readonly onEmpty: 'error' | 'allow' | undefined;
  /** Label keys that every item has, be it with an empty value. */
  readonly labels: readonly string[];
  readonly claims: readonly string[];
}

/** Of a name in Kubernetes: what is longer is nobody's, and would only fill logs and metrics. */
const MAX_NAME_LENGTH = 253;

export type ParsedRequest =
  | { readonly ok: true; readonly request: PluginRequest }
  | { readonly ok: false; readonly message: string };

/** Reads the body of `getparams.execute`. Values may have been rendered by a matrix generator: all of them are text or lists of text. */
export function parsePluginRequest(body: string): ParsedRequest {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return refuse('the body is not JSON');
  }
  const { applicationSetName, input } = asRecord(value);
  const parameters = asRecord(asRecord(input)['parameters']);
  const placement = text(parameters['placement']);
  if (placement === undefined || placement === '')
    return refuse('input.parameters.placement is missing: name the placement as NAMESPACE/NAME');
  const namespace = text(parameters['namespace']);
  const full = placement.includes('/') || namespace === undefined ? placement : `${namespace}/${placement}`;
  if (!/^[^/]+\/[^/]+$/.test(full))
    return refuse(
      `input.parameters.placement must be NAMESPACE/NAME, or come with input.parameters.namespace, got ${JSON.stringify(placement)}`,
    );
  const onEmpty = text(parameters['onEmpty']);
  if (onEmpty !== undefined && onEmpty !== 'error' && onEmpty !== 'allow')
    return refuse(`input.parameters.onEmpty must be "error" or "allow", got ${JSON.stringify(onEmpty)}`);
  return {
    ok: true,
    request: {
      applicationSet: (text(applicationSetName) ?? '').slice(0, MAX_NAME_LENGTH),
      placement: full,
      group: text(parameters['group']),
      onEmpty,
      labels: texts(parameters['labels']),
      claims: texts(parameters['claims']),
    },
  };
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

/** `["a", "b"]` or `"a,b"`. */
function texts(value: unknown): readonly string[] {
  const items: readonly unknown[] =
    typeof value === 'string' ? value.split(',') : Array.isArray(value) ? value : [];
  return items.flatMap((item) => (typeof item === 'string' && item.trim() !== '' ? [item.trim()] : []));
}
