import { Worker } from 'node:worker_threads';
import { describe, expect, it, vi } from 'vitest';
import { IgnoreFieldError, removeIgnoredFields } from '../../src/apply/ignore-fields.ts';
import { JqRunner } from '../../src/apply/jq-runner.ts';
import type { IgnoreField } from '@berth/ocm/kind/manifest-work';

const WIDGET = {
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'w', labels: { keep: 'v1', other: 'v1' } },
  spec: {
    replicas: 1,
    free: { 'a/b': 1, c: 2 },
    parts: [
      { name: 'p', size: 1 },
      { name: 'q', size: 1 },
    ],
  },
};

const present = (field: Omit<IgnoreField, 'condition'>): IgnoreField[] => [
  { condition: 'OnSpokePresent', ...field },
];

describe('ignored fields are removed', () => {
  it.each([
    { name: 'JSON path', field: { jsonPaths: ['.spec.replicas'] }, path: ['spec', 'replicas'] },
    {
      name: 'JSON path to a label',
      field: { jsonPaths: ['.metadata.labels.keep'] },
      path: ['metadata', 'labels', 'keep'],
    },
    {
      name: 'JSON path with a filter',
      field: { jsonPaths: ['.spec.parts[?(@.name=="p")].size'] },
      path: ['spec', 'parts', '0', 'size'],
    },
    { name: 'JSON pointer', field: { jsonPointers: ['/spec/replicas'] }, path: ['spec', 'replicas'] },
    {
      name: 'JSON pointer with an escape',
      field: { jsonPointers: ['/spec/free/a~1b'] },
      path: ['spec', 'free', 'a/b'],
    },
    {
      name: 'JSON pointer into a list',
      field: { jsonPointers: ['/spec/parts/1'] },
      path: ['spec', 'parts', '1'],
    },
    {
      name: 'jq',
      field: { jqPathExpressions: ['.spec.parts[] | select(.name == "q") | .size'] },
      path: ['spec', 'parts', '1', 'size'],
    },
  ])('$name', async ({ field, path }) => {
    const want = structuredClone(WIDGET) as unknown as Record<string, unknown>;
    let parent = want;
    for (const key of path.slice(0, -1)) parent = parent[key] as Record<string, unknown>;
    const last = path.at(-1) ?? '';
    if (Array.isArray(parent)) parent.splice(Number(last), 1);
    else delete parent[last];
    const before = JSON.stringify(WIDGET);
    expect(await removeIgnoredFields(WIDGET, present(field))).toEqual(want);
    expect(JSON.stringify(WIDGET)).toBe(before);
  });

  it.each([
    {
      name: 'paths that lead nowhere',
      field: { jsonPaths: ['.spec.none.x'], jsonPointers: ['/spec/none', '/spec/parts/9'] },
    },
    { name: 'no paths', field: {} },
    { name: 'a prototype', field: { jsonPointers: ['/__proto__/x', '/constructor/prototype/x'] } },
  ])('$name change nothing', async ({ field }) => {
    expect(await removeIgnoredFields(WIDGET, present(field))).toEqual(WIDGET);
  });
});

describe('what cannot be followed is a clear error', () => {
  it.each([
    {
      name: 'a pointer without slash',
      field: { jsonPointers: ['spec/replicas'] },
      text: 'expected it to start with "/"',
    },
    {
      name: 'a broken JSON path',
      field: { jsonPaths: ['.spec[?(.x'] },
      text: 'ignoreFields path .spec[?(.x',
    },
    {
      name: 'jq that does not parse',
      field: { jqPathExpressions: ['.spec['] },
      text: 'ignoreFields path .spec[',
    },
    {
      name: 'jq that is no path',
      field: { jqPathExpressions: ['.spec | 1'] },
      text: 'ignoreFields path .spec | 1',
    },
    {
      name: 'jq that gives two objects',
      field: { jqPathExpressions: ['.spec) , (.'] },
      text: 'exactly one object',
    },
    {
      name: 'jq that changes a value',
      field: { jqPathExpressions: ['.spec.none) | .spec.replicas = 9 | del(.none'] },
      text: 'expected them to remove only other fields',
    },
    {
      name: 'jq that adds a field',
      field: { jqPathExpressions: ['.spec.none) | .spec.more = 9 | del(.none'] },
      text: 'expected them to remove only other fields',
    },
    ...[{ jqPathExpressions: ['.metadata.name'] }, { jsonPointers: ['/kind'] }].map((field) => ({
      name: `${JSON.stringify(field)} for a part of the identity`,
      field,
      text: 'expected them to remove only other fields',
    })),
  ])('$name', async ({ field, text }) => {
    const failure = await removeIgnoredFields(WIDGET, present(field)).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(IgnoreFieldError);
    expect((failure as Error).message).toContain(text);
  });
});

describe('jq runs in bounds', () => {
  it('a program that never ends is stopped, and the next one runs', async () => {
    const jq = new JqRunner();
    await expect(jq.run({}, 'def f: f; f')).rejects.toThrow('took longer than 1000 ms');
    expect(await jq.run({ a: 1 }, '.a')).toEqual([1]);
    await jq.close();
  });

  it('a thread that could not be started is started for the next program', async () => {
    let started = 0;
    // Answers every program with what an echo would.
    const echo = `const { parentPort } = require('node:worker_threads');
      parentPort.on('message', ({ id, json }) => parentPort.postMessage({ id, stdout: json, stderr: '', exitCode: 0 }));`;
    const jq = new JqRunner(() => {
      started += 1;
      return started === 1
        ? Promise.reject(new Error('took longer than 10000 ms'))
        : Promise.resolve(new Worker(echo, { eval: true }));
    });
    await expect(jq.run({}, '.')).rejects.toThrow('took longer than 10000 ms');
    expect(await jq.run({ a: 1 }, '.')).toEqual([{ a: 1 }]);
    expect(await jq.run({ a: 2 }, '.')).toEqual([{ a: 2 }]);
    expect(started).toBe(2);
    await jq.close();
  });

  it('sees nothing of the environment', async () => {
    vi.stubEnv('PATH_TO_SECRETS', '/secrets');
    const jq = new JqRunner();
    const [environment] = await jq.run({}, 'env');
    expect(Object.keys(environment as object)).not.toContain('PATH_TO_SECRETS');
    vi.unstubAllEnvs();
    expect(JSON.stringify(environment)).not.toContain(process.env['PWD'] ?? 'nowhere');
    await jq.close();
  });
});
