import { describe, expect, it } from 'vitest';
import { readLimits } from './limits.ts';
import { SMALL_LINES, sourceSizes } from './source-sizes.ts';

/**
 * The sizes of files. A behaviour has one spine, of up to 400 lines, that is read from top to bottom; a file under 25 lines is a part of
 * some other file, unless it has a reason. Lines that are empty do not count. limits.json holds the exceptions.
 */
const SPINE_LIMIT = 400;
const HARD_LIMIT = 500;
const BANNED_NAMES = /(^|\/)(utils?|helpers?|common|misc|types|index)\.ts$/;

const { longFiles, smallFiles, smallFilesToFold } = readLimits();
const sources = sourceSizes();
const filledOf = new Map(sources.map(({ path, filled }) => [path, filled]));
const isSmall = (path: string): boolean => (filledOf.get(path) ?? SMALL_LINES) < SMALL_LINES;

describe('sizes', () => {
  it(`no file is over ${SPINE_LIMIT} lines without a reason, and none over ${HARD_LIMIT}`, () => {
    const tooLong = sources
      .filter(({ path, filled }) => filled > (path in longFiles ? HARD_LIMIT : SPINE_LIMIT))
      .map(
        ({ path, filled }) => `${path}: ${filled} lines. Divide it, or name it in "longFiles" with a reason`,
      );
    expect(tooLong).toEqual([]);
  });

  it(`each file under ${SMALL_LINES} lines has a reason, or is from the time before this rule`, () => {
    const listed = new Set([...Object.keys(smallFiles), ...smallFilesToFold]);
    const unlisted = sources
      .filter(({ path }) => isSmall(path) && !listed.has(path))
      .map(
        ({ path, filled }) =>
          `${path}: ${filled} lines. Fold it into its importer, or name it in "smallFiles" with a reason. Moved: npm run limits -- --lower`,
      );
    expect(unlisted).toEqual([]);
  });

  it.each([
    {
      list: 'longFiles',
      over: Object.keys(longFiles).filter((path) => (filledOf.get(path) ?? 0) <= SPINE_LIMIT),
    },
    { list: 'smallFiles', over: Object.keys(smallFiles).filter((path) => !isSmall(path)) },
    { list: 'smallFilesToFold', over: smallFilesToFold.filter((path) => !isSmall(path)) },
  ])('the list $list names only files that need it', ({ list, over }) => {
    expect(
      over.map((path) => `delete ${path} from "${list}"; all at once: npm run limits -- --lower`),
    ).toEqual([]);
  });

  it('each reason is a sentence', () => {
    const short = Object.entries({ ...longFiles, ...smallFiles }).filter(([, reason]) => reason.length < 20);
    expect(short).toEqual([]);
  });

  it('names duties, not drawers', () => {
    expect(sources.filter(({ path }) => BANNED_NAMES.test(path))).toEqual([]);
  });
});
