import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

/** A figure that nobody can measure again says nothing. */
const page = readFileSync('docs/performance.md', 'utf8');
const sections = page
  .split(/^##+ /m)
  .slice(1)
  .map((text) => ({ title: text.split('\n', 1)[0], text }));
const commandsIn = (text: string): readonly string[] =>
  [...text.matchAll(/\bnode [^`]*?(test\/bench\/[\w.-]+)/g)].map(([, program]) => program ?? '');

it('each section with figures has a command that prints them', () => {
  expect(sections.length).toBeGreaterThan(10);
  const without = sections
    .filter(({ text }) => /\d (ms|s|%|MiB|MB|µs)\b/.test(text) && commandsIn(text).length === 0)
    .map(({ title }) => title);
  expect(without).toEqual([]);
});

it('each command names a program that exists', () => {
  expect(commandsIn(page).filter((program) => !existsSync(program))).toEqual([]);
});

it('each variable of a command is read by a program of its section', () => {
  const unread = sections.flatMap(({ title, text }) => {
    const named = [...text.matchAll(/test\/(?:bench|e2e)\/[\w./-]+\.(?:mjs|ts)/g)].map(([file]) => file);
    const programs = named.map((file) => readFileSync(file, 'utf8')).join('\n');
    return [...text.matchAll(/`?\b((?:BENCH|BERTH)_[A-Z_]+|PROFILE)=/g)]
      .map(([, variable]) => variable ?? '')
      .filter((variable) => !programs.includes(variable))
      .map((variable) => `${title}: ${variable}`);
  });
  expect(unread).toEqual([]);
});
