import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { findAggregatedApi } from '../../src/aggregation/api-services.ts';
import type { JsonObject } from '../../src/json/json-value.ts';
import { ObjectStore } from '../../src/store/object-store.ts';

const key = (storage: string, namespace = 'default') => ({ storage, namespace, name: 'odd' });

async function addressOf(serviceSpec: JsonObject, endpoints?: JsonObject): Promise<unknown> {
  const directory = mkdtempSync(join(tmpdir(), 'berth-api-services-'));
  const fail = (problem: unknown): never => {
    throw new Error(String(problem));
  };
  const store = await ObjectStore.open({ directory, clock: systemClock, onFatal: fail, onWarning: fail });
  store.put(key('services'), { metadata: { name: 'odd' }, spec: serviceSpec });
  if (endpoints !== undefined) store.put(key('endpoints'), endpoints);
  store.put(key('apiservices.apiregistration.k8s.io', ''), {
    spec: {
      group: 'odd.example.com',
      version: 'v1',
      service: { name: 'odd', namespace: 'default', port: 8443 },
    },
  });
  const api = findAggregatedApi(store, 'odd.example.com', 'v1');
  await store.close();
  rmSync(directory, { recursive: true });
  return [api?.host, api?.port];
}

describe('the address of an aggregated API', () => {
  it('is that of the Endpoints', async () => {
    const subsets = [{ addresses: [] }, { addresses: [{ ip: '192.0.2.7' }], ports: [{ port: 9443 }] }];
    expect(await addressOf({ ports: [{ port: 443 }] }, { subsets })).toEqual(['192.0.2.7', 9443]);
  });

  it('has the port of the APIService when the Endpoints have none', async () => {
    const subsets = [{ addresses: [{ ip: '192.0.2.7' }] }];
    expect(await addressOf({ ports: [{ port: 443 }] }, { subsets })).toEqual(['192.0.2.7', 8443]);
  });

  it('is the name of a Service of type ExternalName', async () => {
    expect(await addressOf({ type: 'ExternalName', externalName: 'localhost' })).toEqual(['localhost', 8443]);
  });

  it('is missing when nothing leads anywhere', async () => {
    expect(await addressOf({ ports: [{ port: 443 }] })).toEqual(['', 8443]);
  });
});
