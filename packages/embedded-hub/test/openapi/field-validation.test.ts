import { describe, expect, it } from 'vitest';
import { openApiDocument, openApiIndex } from '../../src/openapi/openapi.ts';
import { createScheme } from '../../src/scheme/create-scheme.ts';
import type { LooseJson } from '../loose-json.ts';

const scheme = createScheme();
const documents = Object.keys(openApiIndex(scheme).body['paths'] as object);

describe('OpenAPI documents', () => {
  it.each(documents)('%s: every patch of a kind says that the server validates fields', (path) => {
    const { paths } = JSON.parse(openApiDocument(scheme, path)?.text ?? '');
    for (const [url, operations] of Object.entries<LooseJson>(paths)) {
      if (operations.patch === undefined) continue;
      expect(operations.patch['x-kubernetes-group-version-kind'], url).toBeDefined();
      const names = operations.patch.parameters?.map((parameter: LooseJson) => parameter.name);
      expect(names, url).toContain('fieldValidation');
    }
  });
});
