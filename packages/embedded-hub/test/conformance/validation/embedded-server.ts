import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import type { JsonObject } from '../../../src/json/json-value.ts';
import { PipelineStore } from '../../write/pipeline-store.ts';
import type { Scheme } from '../../../src/scheme/scheme.ts';
import type { CaseWriter, Send } from './write-cases.ts';
import { caseWriter } from './write-cases.ts';

export function carrierDefinition(): JsonObject {
  return load(readFileSync(new URL('carrier-definition.yaml', import.meta.url), 'utf8')) as JsonObject;
}

/** The embedded hub's write pipeline with all good objects in it. */
export function embeddedHubWriter(): CaseWriter {
  const { scheme, send } = embeddedServer();
  return caseWriter(scheme, send);
}

export function embeddedServer(): { readonly scheme: Scheme; readonly send: Send } {
  const store = new PipelineStore();
  store.now = '2026-02-02T02:02:02Z';
  store.install(carrierDefinition());
  return {
    scheme: store.scheme,
    send: async (method, path, body, type) => store.send(method, path, body, type),
  };
}
