import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { repositoryFiles } from './repository-files.ts';

/** Everything that people read, titles and comments of tests included. */
const READ = [
  'src',
  'packages',
  'plugin',
  'deploy',
  'test',
  'scripts',
  'examples',
  'docs',
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
];
/** This file, which lists the phrases. */
const ITSELF = 'test/house/language.test.ts';

/**
 * Names, comments, messages and docs are plain technical English, as in the Kubernetes documentation: a subject, a verb, an object. These
 * phrases made readers stop.
 */
const RIDDLES: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [/(?<![.#])\banew\b(?!:| \?|\?)/i, 'again'],
  [/\bmend(s|ed|ing)?\b/i, 'correct, repair'],
  [/\bwhoever\b/i, 'any user, the caller, a process that'],
  [/\b(lets?|letting) (it |them |this |these |its \w+ )?go\b/i, 'release, delete, remove'],
  [/\b(is|are) told\b/i, 'is reported, gets'],
  [/\btold apart\b|\btells? \w* ?apart\b/i, 'distinguish'],
  [/\bbroken off\b/i, 'interrupted'],
  [/\bwhat comes\b/i, 'the next one, the input'],
  [/\bstands? (on|in|there|beside|for)\b/i, 'is on, is in, means'],
  [/\blies\b/i, 'is, runs'],
  [/\bfor ever\b/i, 'forever'],
  [/\bhangs? on\b(?! hostile)/i, 'depends on'],
  [/\b(clusters|commit|decisions|fleet|string|world) of before\b/i, 'previous, earlier'],
  [/\bnobody knows\b/i, 'it is unknown'],
  [/\bas a whole\b/i, 'completely'],
  [/\bin the words? of\b/i, 'as X names it, the message of X'],
  [/\b(to and fro|in vain|at rest for good)\b/i, 'back and forth, without effect'],
  [/\bcomes? into being\b/i, 'is created'],
  [/\bwhither|whence|hence\b/i, 'to, from, so'],
  [/\bfor nothing but\b/i, 'only for'],
  // Words that mean something else here: docs/glossary.md.
  [/\bplan[ -]?tokens?\b/i, 'approval code; plan digest for the inputs of a plan'],
  [/\bmake-before-break moves?\b/i, 'handover'],
  [/\bmarks? of (Berth|objects|dependents)\b|\b(Berth's|its) marks?\b/i, 'annotation, label, name hash'],
  [/\b(scheduling|sync) pass(es)?\b|\bpass(es)? (of|over) (a|the|each) source\b/i, 'scheduling cycle, sync'],
  [
    /\bmembers? of (a|the|each) (page|group|wave|placement)\b/i,
    'clusters of it; a member is a simulated cluster',
  ],
  [/(?<!\.)\bjournals?\b/i, 'append log, publish state, last transition'],
  [/\b(wave|preview|cache) records?\b/i, 'wave state, preview memory, cache entry'],
  [/\bsettled (pages?|pass(es)?|state|objects?|works?|fleet)\b/i, 'final, up to date, published'],
  [
    /\bclaims? of (a|the|each|another|any) (source|owner|agent|work)\b|\bsource claims?\b/i,
    'declaration, owner label',
  ],
  [
    /\b(rollout|more) waves?\b|\bwaves? of (a|the) rollout\b/i,
    'batch; Argo CD has sync waves, and Berth waves of an ApplicationSet',
  ],
  [
    /\bholds (the|a|its) lease\b|\bthe same holds (for|where|if)\b|\b(folder|file|ConfigMap|Secret) holds\b/i,
    'has, applies to, contains',
  ],
  [/\b(rollout|deletion|loss) windows?\b/i, 'batch, removal window'],
];

it('says what it means', () => {
  const files = repositoryFiles(...READ).filter(
    (file) => /\.(ts|mjs|md|ya?ml)$/.test(file) && file !== ITSELF,
  );
  expect(files.length).toBeGreaterThan(1000);
  const found = files.flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        RIDDLES.filter(([phrase]) => phrase.test(line)).map(
          ([phrase, instead]) =>
            `${file}:${index + 1}: ${line.trim()} (${phrase.source}; better: ${instead})`,
        ),
      ),
  );
  expect(found).toEqual([]);
});
