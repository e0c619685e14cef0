import { InputError } from '@berth/runtime/errors';
import type { TaintEffect } from '@berth/ocm/kind/managed-cluster';
import type { Assumption, ClusterTarget, WhatIf } from './apply-what-if.ts';

/** The flags for assumptions about existing clusters. `--add-cluster` reads a file. */
export type WhatIfFlag = 'drain' | 'lose' | 'taint' | 'label' | 'claim' | 'score';

const EFFECTS: readonly TaintEffect[] = ['NoSelect', 'PreferNoSelect', 'NoSelectIfNew'];
/** The key of the taint that `--drain` adds. */
const DRAIN_KEY = 'drain';

/**
 * Reads the value of a flag. CLUSTER is the name of a cluster, or KEY=VALUE for all with this label or claim:
 * `--drain CLUSTER`, `--lose CLUSTER`, `--taint CLUSTER:KEY[=VALUE][:EFFECT]`, `--label CLUSTER:KEY=VALUE` (`KEY-` removes it),
 * `--claim CLUSTER:NAME=VALUE` (likewise), `--score CLUSTER:RESOURCE/SCORE=VALUE`.
 * @throws InputError
 */
export function parseWhatIf(flag: WhatIfFlag, value: string): WhatIf {
  const text = `--${flag} ${value}`;
  const [target = '', ...rest] = value.split(':');
  const what = rest.join(':');
  return {
    text,
    assumption: { kind: 'change', target: targetOf(text, target), stepFor: stepOf(flag, text, what) },
  };
}

type StepFor = Extract<Assumption, { kind: 'change' }>['stepFor'];

function stepOf(flag: WhatIfFlag, text: string, what: string): StepFor {
  switch (flag) {
    case 'drain':
    case 'lose':
      if (what !== '') throw wrong(text, `expected --${flag} CLUSTER`);
      return flag === 'lose'
        ? (clusters) => ({ loseClusters: { clusters } })
        : (clusters) => ({ taint: { clusters, key: DRAIN_KEY, effect: 'NoSelect' } });
    case 'taint':
      return taintStep(text, what);
    case 'label': {
      const [key, set] = attributeOf(text, what, '--label CLUSTER:KEY=VALUE');
      return (clusters) => ({ label: { clusters, labels: { [key]: set } } });
    }
    case 'claim': {
      const [name, set] = attributeOf(text, what, '--claim CLUSTER:NAME=VALUE');
      return (clusters) => ({ claim: { clusters, claims: { [name]: set } } });
    }
    case 'score':
      return scoreStep(text, what);
  }
}

function taintStep(text: string, what: string): StepFor {
  const [, key = '', value, effect = 'NoSelect'] = /^([^=:]+)(?:=([^:]*))?(?::(.+))?$/.exec(what) ?? [];
  const known = EFFECTS.find((one) => one === effect);
  if (key === '' || known === undefined)
    throw wrong(text, `expected --taint CLUSTER:KEY[=VALUE][:EFFECT] with effect ${EFFECTS.join(', ')}`);
  const taint = { key, effect: known, ...(value === undefined ? {} : { value }) };
  return (clusters) => ({ taint: { clusters, ...taint } });
}

function scoreStep(text: string, what: string): StepFor {
  const [, resourceName = '', scoreName = '', number = ''] = /^([^/=]+)\/([^=]+)=(-?\d+)$/.exec(what) ?? [];
  const value = Number(number);
  if (resourceName === '' || value < -100 || value > 100)
    throw wrong(text, 'expected --score CLUSTER:RESOURCE/SCORE=VALUE with a whole number from -100 to 100');
  return (clusters) => ({ score: { clusters, resourceName, scoreName, value } });
}

/** null: the label or claim is removed. */
function attributeOf(text: string, what: string, expected: string): readonly [string, string | null] {
  if (/^[^=]+-$/.test(what)) return [what.slice(0, -1), null];
  const equals = what.indexOf('=');
  if (equals < 1) throw wrong(text, `expected ${expected}`);
  return [what.slice(0, equals), what.slice(equals + 1)];
}

function targetOf(text: string, target: string): ClusterTarget {
  const equals = target.indexOf('=');
  if (target === '' || equals === 0)
    throw wrong(text, 'expected a cluster, or KEY=VALUE of a label or claim');
  if (equals < 0) return { name: target };
  return { attribute: target.slice(0, equals), value: target.slice(equals + 1) };
}

function wrong(text: string, problem: string): InputError {
  return new InputError(problem, { code: 'cli.option', subject: text });
}
