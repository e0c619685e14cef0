import { describe, expect, it } from 'vitest';
import { readCase } from '../../../src/app/explain/read-case.ts';

const BARE =
  '{"name":"a","now":"2026-03-01T12:00:00Z","clusters":[{"metadata":{"name":"c1"}}],"scores":null}';
const WRAPPED = '{"case":{"name":"b","now":"2026-03-02T12:00:00Z"},"expected":[]}';

describe('readCase', () => {
  it('takes the first case, bare or wrapped, with empty lists for what is absent', () => {
    const world = readCase(`${BARE}\n${WRAPPED}\n`, { file: 'cases.jsonl' });
    expect(world).toMatchObject({
      now: '2026-03-01T12:00:00Z',
      clusters: [{}],
      scores: [],
      placements: [],
      bindings: [],
    });
  });

  it('takes a case by name', () => {
    expect(readCase(`${BARE}\n\n${WRAPPED}`, { file: 'x', name: 'b' }).now).toBe('2026-03-02T12:00:00Z');
  });

  it.each([
    ['', undefined, 'x: holds no case'],
    [BARE, 'z', 'x: has no case "z", it has a'],
    ['{"a', undefined, 'Case: is not JSON (x:1:1)'],
    ['[]', undefined, 'Case: got no object, expected a case (x:1:1)'],
    [`${BARE}\n{}`, 'z', 'Case: now: expected a time such as 2026-01-31T12:00:00Z (x:2:1)'],
    ['{"now":"t","clusters":{}}', undefined, 'Case: clusters: expected a list (x:1:1)'],
  ])('%j (%s) is refused', (text, name, message) => {
    expect(() => readCase(text, { file: 'x', name })).toThrow(message);
  });
});
