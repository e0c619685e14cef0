import { objectAt, textAt } from '../json/json-value.ts';
import type { ObjectStore } from '../store/object-store.ts';
import { resolveService, serviceServerName } from '../webhooks/resolve-service.ts';

const STORAGE = 'apiservices.apiregistration.k8s.io';

/** Another server that serves one group and version. */
export interface AggregatedApi {
  readonly name: string;
  readonly group: string;
  readonly version: string;
  /** '' when its Service cannot be resolved. */
  readonly host: string;
  readonly port: number;
  /** Name in the server's certificate: `NAME.NAMESPACE.svc`, as extension servers have it. */
  readonly serverName: string;
  readonly caPem: string | undefined;
  readonly insecure: boolean;
}

/**
 * The API that an APIService delegates to another server; undefined if there is none for the group
 * and version.
 */
export function findAggregatedApi(
  store: ObjectStore,
  group: string,
  version: string,
): AggregatedApi | undefined {
  return aggregatedApis(store).find((api) => api.group === group && api.version === version);
}

/** Every APIService with a service. */
export function aggregatedApis(store: ObjectStore): readonly AggregatedApi[] {
  if (store.count(STORAGE) === 0) return [];
  return store.list(STORAGE).flatMap(({ name, object }) => {
    const spec = objectAt(object, 'spec');
    const service = objectAt(spec, 'service');
    if (spec === undefined || service === undefined) return [];
    const [namespace, serviceName] = [textAt(service, 'namespace'), textAt(service, 'name')];
    const port = typeof service['port'] === 'number' ? service['port'] : 443;
    const address = resolveService(store, { namespace, name: serviceName, port }) ?? { host: '', port };
    const bundle = textAt(spec, 'caBundle');
    return [
      {
        name,
        group: textAt(spec, 'group'),
        version: textAt(spec, 'version'),
        ...address,
        serverName: serviceServerName({ namespace, name: serviceName }),
        caPem: bundle === '' ? undefined : Buffer.from(bundle, 'base64').toString('utf8'),
        insecure: spec['insecureSkipTLSVerify'] === true,
      },
    ];
  });
}
