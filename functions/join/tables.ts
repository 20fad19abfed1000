import type { JoinSettings } from '../core/join/settings.ts';
import type { Tables } from '../core/join/sql.ts';
import type { Config } from '../config.ts';

/** Full names of the tables of a join. */
export function tablesOf(join: JoinSettings, config: Pick<Config, 'projectId' | 'dataset'>): Tables {
  return { source: fullName(join.source.table, config), ledger: fullName('joined', config) };
}

/** `table`, `dataset.table` or `project.dataset.table` -> `project.dataset.table`. */
function fullName(table: string, { projectId, dataset }: Pick<Config, 'projectId' | 'dataset'>): string {
  return [projectId, dataset]
    .slice(0, 3 - table.split('.').length)
    .concat(table)
    .join('.');
}
