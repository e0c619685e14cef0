import { describe, expect, it } from 'vitest';
import { hubRefusals } from '../../../../src/controllers/sources/acceptance/hub-refusals.ts';
import { formatFieldPath } from '@berth/kube/model/field-path';
import { asKubeObject, BOATS, ROWS } from './objects-and-refusals.ts';

function refusalsOf(...objects: readonly object[]): readonly string[] {
  const location = { file: 'a.yaml', line: 1, column: 1 };
  return hubRefusals(objects.map((object) => ({ object: asKubeObject(object), location }))).map(
    ({ path, message, hint, severity }) => {
      expect(severity).toBe('error');
      return `${formatFieldPath(path)}: ${message}${hint === undefined ? '' : ` [${hint}]`}`;
    },
  );
}

describe('what a hub would refuse', () => {
  it.each(ROWS)('of $name', ({ object, refused }) => {
    const found = refusalsOf(BOATS, object);
    const shown = found.map((text, at) => {
      const start = refused[at]?.endsWith('…') === true ? refused[at].slice(0, -1) : undefined;
      return start !== undefined && text.startsWith(start) ? `${start}…` : text;
    });
    expect(shown).toEqual(refused);
  });

  it('is not known of a kind without a definition, and of one whose definition cannot be read', () => {
    const boat = { apiVersion: 'example.com/v1', kind: 'Boat', metadata: { name: 'a' }, spec: { sail: 1 } };
    expect(refusalsOf(boat)).toEqual([]);
    const broken = { ...BOATS, spec: { ...BOATS.spec, versions: 'none' } };
    expect(refusalsOf(broken, boat).filter((text) => text.includes('sail'))).toEqual([]);
  });
});
