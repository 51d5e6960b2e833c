"""The tables of the processes as step 1 makes them, and the function that reserves a call in one statement.

Instants are microseconds since 1970 by the database's clock, spans microseconds.
"""

NOW = "(extract(epoch from clock_timestamp()) * 1000000)::bigint"

# Rows are written over and over: with room in each page the new version of a row lies beside the old one, out of the index.
_ROOMY = "with (fillfactor = 50)"

# No call is reserved for later than this, or than whoever reserves it has patience for: what stands for later was reserved
# by a clock that had run ahead, and holds up nobody. So does a rest that began later than now.
_FAR = 600_000_000

# Rows are locked in the order of their keys, so that two calls never wait for each other. What is lost with a server that
# crashes is the last moments that were reserved, which have passed when it is there again: nobody waits for its disk.
_RESERVE = f"""
create function reserve_call(places text[], intervals bigint[], slacks bigint[], rested text[], patience bigint)
returns bigint language plpgsql as $reserve$
declare
    moment bigint;
    free bigint;
    found_rows integer;
    far bigint := {NOW} + greatest(patience, {_FAR});
begin
    perform set_config('synchronous_commit', 'off', true);
    loop
        select max(kept.next - asked.slack) filter (where kept.next <= far + asked.span), count(*)
        into free, found_rows from (
            select key, next from budgets where key = any(places) order by key for update
        ) as kept join unnest(places, slacks, intervals) as asked(place, slack, span) on asked.place = kept.key;
        exit when found_rows = cardinality(places);
        insert into budgets (key, next) select place, 0 from unnest(places) as place order by place on conflict do nothing;
    end loop;
    moment := {NOW};
    free := greatest(moment, free, (select max(until) from rests where key = any(rested) and begun <= moment));
    if free - moment <= patience then
        update budgets set next = asked.span + case when budgets.next <= far + asked.span
            then greatest(budgets.next, free) else free end
        from unnest(places, intervals) as asked(place, span) where budgets.key = asked.place;
    end if;
    return free - moment;
end
$reserve$"""

TABLES: tuple[str, ...] = (
    f"""create table leases (
        name text primary key, holder text not null, token bigint not null, until bigint not null
    ) {_ROOMY}""",
    f"create table budgets (key text primary key, next bigint not null) {_ROOMY}",
    "create table rests (key text primary key, begun bigint not null, until bigint not null, reason text not null)",
    f"create table spendings (key text primary key, spent bigint not null, until bigint not null) {_ROOMY}",
    f"""create table processes (
        id text primary key, roles text not null, version text not null, schema integer not null, host text not null,
        begun bigint not null, beat bigint not null, figures text not null
    ) {_ROOMY}""",
    _RESERVE,
)
