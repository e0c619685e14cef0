import type { NameRule } from '@berth/kube/model/selector/name-rules';
import { getOwn, type JsonObject, listAt, numberAt, objectAt, textAt } from '../../json/json-value.ts';
import type { FieldReporter } from '../values/field-reporter.ts';
import { checkPort, checkPortOrName } from '../values/port-rules.ts';

const SCHEMES = ['HTTP', 'HTTPS'];
const HEADER_TEXT =
  "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";
const headerName: NameRule = (name) => (/^[-A-Za-z0-9]+$/.test(name) ? [] : [HEADER_TEXT]);
const NUMBERS = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
];

/** Termination grace period in seconds. */
type GracePeriod = number;

type HandlerCheck = (handler: JsonObject, at: FieldReporter, grace: GracePeriod) => void;

const HANDLERS: readonly (readonly [kind: string, check: HandlerCheck])[] = [
  [
    'exec',
    (exec, at) => {
      if (listAt(exec, 'command').length === 0) at.at('command').required();
    },
  ],
  ['httpGet', checkHttpGet],
  ['tcpSocket', (socket, at) => checkPortOrName(getOwn(socket, 'port'), at.at('port'))],
  ['grpc', (grpc, at) => checkPort(numberAt(grpc, 'port'), at.at('port'))],
  [
    'sleep',
    (sleep, at, grace) => {
      const seconds = numberAt(sleep, 'seconds') ?? 0;
      const detail = `must be non-negative and less than terminationGracePeriodSeconds (${String(grace)})`;
      if (seconds < 0 || seconds > grace) at.invalid(seconds, detail);
    },
  ],
];

function checkHttpGet(get: JsonObject, at: FieldReporter): void {
  checkPortOrName(getOwn(get, 'port'), at.at('port'));
  at.at('scheme').oneOfIfSet(textAt(get, 'scheme'), SCHEMES);
  for (const header of listAt(get, 'httpHeaders'))
    at.at('httpHeaders').validName(textAt(header as JsonObject, 'name'), headerName);
}

/**
 * A handler must have exactly one action.
 * @param kinds the actions that are allowed here
 */
function checkHandler(
  owner: JsonObject,
  kinds: ReadonlySet<string>,
  grace: GracePeriod,
  at: FieldReporter,
): void {
  let count = 0;
  for (const [kind, check] of HANDLERS) {
    const handler = kinds.has(kind) ? objectAt(owner, kind) : undefined;
    if (handler === undefined) continue;
    if (count > 0) at.at(kind).forbidden('may not specify more than 1 handler type');
    else check(handler, at.at(kind), grace);
    count += 1;
  }
  if (count === 0) at.required('must specify a handler type');
}

const PROBE_KINDS = new Set(['exec', 'httpGet', 'tcpSocket', 'grpc']);
const LIFECYCLE_KINDS = new Set(['exec', 'httpGet', 'tcpSocket', 'sleep']);

/** Source: pkg/apis/core/validation (validateLivenessProbe and others). */
export function checkProbes(container: JsonObject, grace: GracePeriod, at: FieldReporter): void {
  for (const kind of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    const probe = objectAt(container, kind);
    if (probe === undefined) continue;
    const place = at.at(kind);
    checkProbe(probe, grace, place);
    const threshold = numberAt(probe, 'successThreshold') ?? 0;
    if (kind !== 'readinessProbe' && threshold !== 0 && threshold !== 1)
      place.at('successThreshold').invalid(threshold, 'must be 1');
    const own = getOwn(probe, 'terminationGracePeriodSeconds');
    if (kind === 'readinessProbe' && own !== undefined)
      place.at('terminationGracePeriodSeconds').invalid(own, 'must not be set for readinessProbes');
  }
}

function checkProbe(probe: JsonObject, grace: GracePeriod, at: FieldReporter): void {
  checkHandler(probe, PROBE_KINDS, grace, at);
  for (const key of NUMBERS) at.at(key).nonNegative(numberAt(probe, key));
  at.at('terminationGracePeriodSeconds').positive(numberAt(probe, 'terminationGracePeriodSeconds'));
}

/** Source: pkg/apis/core/validation (validateLifecycle). */
export function checkLifecycle(container: JsonObject, grace: GracePeriod, at: FieldReporter): void {
  const lifecycle = objectAt(container, 'lifecycle');
  for (const hook of ['postStart', 'preStop']) {
    const handler = objectAt(lifecycle, hook);
    if (handler !== undefined) checkHandler(handler, LIFECYCLE_KINDS, grace, at.at('lifecycle').at(hook));
  }
}
