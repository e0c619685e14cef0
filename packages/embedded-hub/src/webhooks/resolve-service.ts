import type { JsonObject } from '../json/json-value.ts';
import { isObject, listAt, objectAt, textAt } from '../json/json-value.ts';
import type { ObjectStore } from '../store/object-store.ts';

export interface ServicePort {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/**
 * The hub routes no cluster IPs, so a Service can be resolved only if it is of type ExternalName,
 * or if its Endpoints contain an address.
 */
export function resolveService(
  store: ObjectStore,
  service: ServicePort,
): { readonly host: string; readonly port: number } | undefined {
  const { namespace, name, port } = service;
  const spec = objectAt(store.get({ storage: 'services', namespace, name })?.object, 'spec');
  if (textAt(spec, 'type') === 'ExternalName') return { host: textAt(spec, 'externalName'), port };
  const endpoints = store.get({ storage: 'endpoints', namespace, name })?.object;
  for (const subset of listAt(endpoints, 'subsets').filter(isObject)) {
    const host = textAt(firstObject(subset, 'addresses'), 'ip');
    const own = firstObject(subset, 'ports')?.['port'];
    if (host !== '') return { host, port: typeof own === 'number' ? own : port };
  }
  return undefined;
}

/** The name in the certificate of a server behind a Service. */
export function serviceServerName({ namespace, name }: Pick<ServicePort, 'namespace' | 'name'>): string {
  return `${name}.${namespace}.svc`;
}

function firstObject(object: JsonObject, field: string): JsonObject | undefined {
  return listAt(object, field).find(isObject);
}
