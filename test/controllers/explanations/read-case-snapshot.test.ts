import { describe, expect, it } from 'vitest';
import { readCaseSnapshot } from '../../../src/controllers/explanations/offline-snapshot.ts';

const BARE =
  '{"name":"a","now":"2026-03-01T12:00:00Z","clusters":[{"metadata":{"name":"c1"}}],"scores":null}';
const WRAPPED = '{"case":{"name":"b","now":"2026-03-02T12:00:00Z"},"expected":[]}';

describe('readCase', () => {
  it('takes the first case, bare or wrapped, with empty lists for what is absent', () => {
    const { snapshot } = readCaseSnapshot(`${BARE}\n${WRAPPED}\n`, { file: 'cases.jsonl' });
    expect(snapshot).toMatchObject({
      now: '2026-03-01T12:00:00Z',
      clusters: [{}],
      scores: [],
      placements: [],
      bindings: [],
    });
  });

  it('takes a case by name', () => {
    expect(readCaseSnapshot(`${BARE}\n\n${WRAPPED}`, { file: 'x', name: 'b' }).snapshot.now).toBe(
      '2026-03-02T12:00:00Z',
    );
  });

  it.each([
    ['', undefined, 'x: contains no case'],
    [BARE, 'z', 'x: has no case "z", it has a'],
    ['{"a', undefined, 'Case: not JSON ('],
    ['[]', undefined, 'Case: case: '],
    [`${BARE}\n{}`, 'z', '(x:2:1)'],
    [
      '{"name":"a","now":"t"}',
      undefined,
      'Case: now: expected an RFC 3339 time like 2026-03-01T12:00:00Z (x:1:1)',
    ],
    ['{"name":"a","now":"2026-03-01T12:00:00Z","clusters":{}}', undefined, 'clusters'],
  ])('%j (%s) is refused', (text, name, message) => {
    expect(() => readCaseSnapshot(text, { file: 'x', name })).toThrow(message);
  });
});
