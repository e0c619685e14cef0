import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { jsonSchemas } from './json-schemas.ts';
import { repositoryFiles } from './repository-files.ts';

const FOLDER = 'docs/schemas';
const schemas = jsonSchemas();

describe('JSON schemas in docs/schemas', () => {
  it.each([...schemas])('%s is what Berth reads; UPDATE_GOLDEN=1 writes it', (name, schema) => {
    const file = join(FOLDER, name);
    const text = `${JSON.stringify(schema, undefined, 2)}\n`;
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(file, text);
    expect(existsSync(file) ? readFileSync(file, 'utf8') : '').toBe(text);
  });

  it('are all there, and no others', () => {
    expect(readdirSync(FOLDER).sort()).toEqual([...schemas.keys()].sort());
  });

  it.each([
    ['rules.schema.json', /(?:^|\/)\.berth\/rules\.yaml$/],
    ['placement-test.schema.json', /\.placement-test\.yaml$/],
    ['rule-test.schema.json', /\.rule-test\.yaml$/],
  ])('%s knows every field of the examples', (name, pattern) => {
    const examples = repositoryFiles('examples').filter((file) => pattern.test(file));
    expect(examples.length).toBeGreaterThan(0);
    for (const file of examples)
      expect(unknownFields(load(readFileSync(file, 'utf8')), schemas.get(name) ?? {}, file)).toEqual([]);
  });
});

interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly additionalProperties?: boolean | Node;
  readonly items?: Node;
}

/** Paths of fields that a schema does not allow. */
function unknownFields(value: unknown, schema: Node, at: string): readonly string[] {
  if (Array.isArray(value))
    return value.flatMap((item, number) => unknownFields(item, schema.items ?? {}, `${at}[${number}]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, field]) => {
    const known = schema.properties?.[name];
    if (known !== undefined) return unknownFields(field, known, `${at}.${name}`);
    const others = schema.additionalProperties;
    if (others === false) return [`${at}.${name}`];
    return typeof others === 'object' ? unknownFields(field, others, `${at}.${name}`) : [];
  });
}
