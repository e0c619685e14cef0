import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

/** The pictures: readable on light and dark pages, described in words, shown by the README, and true about folders. */
const FOLDER = 'docs/pictures';
/** Characters. An alternative text tells what the picture shows. */
const MIN_ALT = 100;

const pictures = readdirSync(FOLDER).sort();

it.each(pictures)('%s has colours for dark pages, a title and a description', (name) => {
  const text = readFileSync(`${FOLDER}/${name}`, 'utf8');
  expect(name).toMatch(/\.svg$/);
  expect(text).toContain('@media (prefers-color-scheme: dark)');
  expect(text).toMatch(/<title id="title">[^<]+<\/title>\s*<desc id="desc">[^<]+<\/desc>/);
  // A colour that is not a variable would be the same on both.
  expect(text.match(/\b(?:fill|stroke)="#?\w+"/g) ?? []).toEqual([]);
  expect(text).not.toMatch(/(?:href|src)=|@import|<script|<foreignObject/);
});

it.each(pictures)('%s names folders that exist', (name) => {
  const text = readFileSync(`${FOLDER}/${name}`, 'utf8');
  const paths = [...text.matchAll(/<text class="path"[^>]*>([^<]+)<\/text>/g)].map(([, path]) => path ?? '');
  expect(paths.filter((path) => !existsSync(path))).toEqual([]);
});

it('the README shows each picture, with a text for those who do not see it', () => {
  const shown = [...readFileSync('README.md', 'utf8').matchAll(/!\[([^\]]*)\]\(docs\/pictures\/([^)]+)\)/g)];
  expect(shown.map(([, , name]) => name).sort()).toEqual(pictures);
  expect(shown.filter(([, alt]) => (alt ?? '').length < MIN_ALT)).toEqual([]);
});

const IMAGES = 'docs/images';
const images = readdirSync(IMAGES).filter((name) => name.endsWith('.webp'));

it.each(images)('%s is made by a test, which says what it shows, and is on a page', (name) => {
  const digest = createHash('sha256')
    .update(readFileSync(`${IMAGES}/${name}`))
    .digest('hex');
  expect(readFileSync(`${IMAGES}/${name.replace('.webp', '.txt')}`, 'utf8')).toContain(`picture ${digest}\n`);
  const pages = readdirSync('docs').filter((page) => page.endsWith('.md'));
  const shown = pages.filter((page) => readFileSync(`docs/${page}`, 'utf8').includes(`](images/${name})`));
  expect(shown).not.toEqual([]);
});
