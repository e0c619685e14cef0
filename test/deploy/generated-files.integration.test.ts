import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { CHART, generatedFiles } from './generated-files.ts';
import { repositoryFiles } from '../house/repository-files.ts';

const files = await generatedFiles();

it.each([...files])('%s follows from its source', (path, text) => {
  if (process.env['UPDATE_GOLDEN'] === '1') {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  expect(readFileSync(path, 'utf8')).toBe(text);
});

it('has no definition of a kind that is gone', () => {
  for (const file of repositoryFiles(`${CHART}/crds`)) expect(files.has(file), file).toBe(true);
});

it('turns on each right of its roles somewhere', () => {
  const template = (name: string) => readFileSync(`${CHART}/templates/${name}`, 'utf8');
  const wanted = [...template('rbac.yaml').matchAll(/hasKey \$on "([^"]+)"/g)].map(
    ([, right]) => right ?? '',
  );
  const rights = template('_rights.tpl');
  // Those of registration and add-ons are set by a duty in the values.
  const isSet = (right: string) =>
    /^(registration|addons)-/.test(right) || rights.includes(`set $on "${right}" true`);
  expect(wanted.filter((right) => !isSet(right))).toEqual([]);
});
