import { textAt } from '@berth/embedded-hub/json/json-value';
import { PipelineStore } from '../../packages/embedded-hub/test/write/pipeline-store.ts';
import type { Answer } from '../../packages/embedded-hub/test/write/pipeline-store.ts';

export const JSON_PATCH = 'application/json-patch+json';
export const STRATEGIC_PATCH = 'application/strategic-merge-patch+json';
export const APPLY_PATCH = 'application/apply-patch+yaml';

export const CONFIG_MAPS = '/api/v1/namespaces/n/configmaps';
export const DEPLOYMENTS = '/apis/apps/v1/namespaces/n/deployments';
export const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
export const THINGS = '/apis/example.com/v1/namespaces/n/things';

/** A list of `count` values made from their index. */
export function many<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

export function configMap(more: Readonly<Record<string, unknown>> = {}, metadata = {}): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', ...metadata }, ...more };
}

export function deployment(podSpec: Readonly<Record<string, unknown>>): object {
  const template = { metadata: { labels: { a: 'b' } }, spec: podSpec };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd' },
    spec: { selector: { matchLabels: { a: 'b' } }, template },
  };
}

export function thing(spec: Readonly<Record<string, unknown>>): object {
  return { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 't' }, spec };
}

/** The definition of Things, with these properties of their spec. */
export function thingDefinition(properties: Readonly<Record<string, unknown>>): object {
  const spec = { type: 'object', properties };
  const openAPIV3Schema = { type: 'object', properties: { spec } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
}

/** A store that knows Things, without objects. */
export function storeOfThings(properties: Readonly<Record<string, unknown>>): PipelineStore {
  const store = new PipelineStore();
  store.install(
    JSON.parse(JSON.stringify(thingDefinition(properties))) as Parameters<typeof store.install>[0],
  );
  return store;
}

export function messageOf(answer: Answer): string {
  return textAt(answer.body, 'message');
}

/** Length of the answer as it goes over the wire. */
export function answerLength(answer: Answer): number {
  return JSON.stringify(answer.body).length + answer.warnings.join('').length;
}

/** Processor time of this process, in milliseconds. Attacks took seconds to minutes; they may take a small part of that now. */
export function processorMs(run: () => unknown): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Twenty times what one request may take: machines of CI are slow, and the compiler of the engine counts as well. */
export const FAR_TOO_LONG_MS = 2_000;
