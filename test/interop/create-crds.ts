import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import type { JsonObject } from '@berth/embedded-hub/json/json-value';
import { objectAt, textAt } from '@berth/embedded-hub/json/json-value';
import type { ApiClient } from './peers/api-client.ts';

const POLL_MS = 50;

/** Creates CustomResourceDefinitions, and waits until every version of them is served. */
export async function createCrds(client: ApiClient, crds: readonly JsonObject[]): Promise<void> {
  for (const crd of crds) {
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const answer = await client.call('POST', path, crd);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  }
  // fixed wait: the pace of a poll
  for (const crd of crds) while (!(await isServed(client, crd))) await pause(POLL_MS);
}

async function isServed(client: ApiClient, crd: JsonObject): Promise<boolean> {
  const spec = objectAt(crd, 'spec');
  const versions = (spec?.['versions'] ?? []) as JsonObject[];
  const plural = textAt(objectAt(spec, 'names'), 'plural');
  for (const version of versions) {
    const path = `/apis/${textAt(spec, 'group')}/${textAt(version, 'name')}/${plural}`;
    if ((await client.call('GET', path)).status !== 200) return false;
  }
  return true;
}
