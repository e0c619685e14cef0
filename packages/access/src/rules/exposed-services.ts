import { load } from 'js-yaml';
import { done, failed, type Outcome } from '@berth/runtime/outcome';

/** A service of a cluster, as a path of cluster-proxy names it. */
export interface ServiceTarget {
  readonly namespace: string;
  readonly service: string;
  readonly port: string;
  readonly protocol: 'http' | 'https';
  /** For the cluster's API server, whose own proxy reaches the service with the rights of the caller. */
  readonly path: string;
}

/** One that is exposed; what is not given may be anything. */
export interface ExposedService {
  readonly namespace: string;
  readonly service: string;
  readonly port?: string | undefined;
  readonly protocol?: string | undefined;
}

const PATH =
  /^\/api\/v1\/namespaces\/([^/?]+)\/services\/(?:(https?):)?([^/?:]+)(?::([^/?:]+))?\/proxy-service(\/.*)$/;
const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const PORT = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/i;

/**
 * What a path means that has cluster-proxy's form for services.
 * Source: cluster-proxy `pkg/userserver`, of 2026: `/api/v1/namespaces/NS/services/[PROTOCOL:]SERVICE:PORT/proxy-service/PATH`.
 * @param path without the cluster
 * @returns undefined: it has another form, and is one of the API server
 */
export function serviceTarget(path: string): Outcome<ServiceTarget> | undefined {
  const [only = ''] = path.split('?');
  if (only.split('/')[7] !== 'proxy-service') return undefined;
  const [, namespace = '', protocol = 'https', service = '', port, rest = ''] = PATH.exec(path) ?? [];
  if (port === undefined || ![namespace, service].every((name) => NAME.test(name)) || !PORT.test(port))
    return failed(
      'expected /api/v1/namespaces/NAMESPACE/services/[http:|https:]SERVICE:PORT/proxy-service/PATH',
    );
  return done({
    ...{ namespace, service, port, protocol: protocol === 'http' ? 'http' : 'https' },
    path: `/api/v1/namespaces/${namespace}/services/${protocol}:${service}:${port}/proxy${rest}`,
  });
}

export function isExposed(target: ServiceTarget, exposed: readonly ExposedService[]): boolean {
  return exposed.some(
    ({ namespace, service, port, protocol }) =>
      namespace === target.namespace &&
      service === target.service &&
      (port === undefined || port === target.port) &&
      (protocol === undefined || protocol === target.protocol),
  );
}

/**
 * The services that a ConfigMap lists: the value of each key is a list of them. A value that is none exposes nothing, and the other ones
 * count.
 * @param data of the ConfigMap
 */
export function parseExposedServices(data: Readonly<Record<string, string>>): {
  readonly exposed: readonly ExposedService[];
  /** As text for users, each with its key. */
  readonly problems: readonly string[];
} {
  const read = Object.entries(data).map(([key, text]) => [key, parseList(text)] as const);
  return {
    exposed: read.flatMap(([, list]) => (list.ok ? list.value : [])),
    problems: read.flatMap(([key, list]) => (list.ok ? [] : [`${key}: ${list.error}`])),
  };
}

const EXPECTED = 'expected a list of {namespace, service, port, protocol}, of which the first two are needed';

function parseList(text: string): Outcome<readonly ExposedService[]> {
  let list: unknown;
  try {
    list = load(text);
  } catch {
    return failed(`is no YAML, ${EXPECTED}`);
  }
  if (!Array.isArray(list)) return failed(EXPECTED);
  const services = list.map(exposedService);
  return services.every((one) => one !== undefined) ? done(services) : failed(EXPECTED);
}

function exposedService(item: unknown): ExposedService | undefined {
  if (typeof item !== 'object' || item === null) return undefined;
  const { namespace, service, port, protocol } = item as Readonly<Record<string, unknown>>;
  if (typeof namespace !== 'string' || typeof service !== 'string') return undefined;
  if (protocol !== undefined && protocol !== 'http' && protocol !== 'https') return undefined;
  if (port !== undefined && typeof port !== 'string' && typeof port !== 'number') return undefined;
  return { namespace, service, port: port === undefined ? undefined : String(port), protocol };
}
