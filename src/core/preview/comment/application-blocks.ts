import type { ApplicationSetPlan } from '../effects/plan-effects.ts';
import { formatCount } from '../plan-text.ts';
import type { Plan } from '../plan.ts';
import { details, fieldList, items, MAX_MOVES } from './comment-blocks.ts';
import { code, prose } from './foreign-text.ts';

/** The Applications that Argo CD would make, change and delete, by ApplicationSet. */
export function applicationBlocks({ applications }: Plan): readonly string[] {
  if (applications.length === 0) return [];
  const title = `Applications of ${formatCount(applications.length, 'ApplicationSet')}`;
  return [details(title, items(applications.flatMap(setLines)))];
}

function setLines(set: ApplicationSetPlan): readonly string[] {
  const { namespace, name, applications, kept, failure, notRendered, preserves } = set;
  const title = `- ${code(`${namespace}/${name}`)}`;
  if (notRendered !== undefined) return [`${title} is not rendered: ${prose(notRendered)}`];
  if (failure !== undefined)
    return [
      `${title} fails, ${formatCount(kept, 'Application')} ${kept === 1 ? 'stays' : 'stay'}: ${prose(failure)}`,
    ];
  const stays = preserves === true ? '; what deleted ones deployed stays' : '';
  const lines = applications.slice(0, MAX_MOVES).map(({ change, name: application, destination, fields }) => {
    const where = destination === '' ? '' : ` on ${code(destination)}`;
    return `  - ${change} ${code(application)}${where}${fieldList(fields)}`;
  });
  const more = applications.length - lines.length;
  return [
    `${title}: ${applications.length} of ${applications.length + kept} differ${stays}`,
    ...lines,
    ...(more > 0 ? [`  - … and ${more} more`] : []),
  ];
}
