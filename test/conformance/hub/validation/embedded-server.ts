import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import type { JsonObject } from '../../../../src/hub/json/json-value.ts';
import { PipelineStore } from '../../../hub/write/pipeline-store.ts';
import type { CaseWriter } from './write-cases.ts';
import { caseWriter } from './write-cases.ts';

export function carrierDefinition(): JsonObject {
  return load(readFileSync(new URL('carrier-definition.yaml', import.meta.url), 'utf8')) as JsonObject;
}

/** The embedded hub's write pipeline with all good objects in it. */
export function embeddedHubWriter(): CaseWriter {
  const store = new PipelineStore();
  store.install(carrierDefinition());
  return caseWriter(store.scheme, async (method, path, body) => store.send(method, path, body));
}
