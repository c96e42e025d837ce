"""Everything that tries to kill the server: wrong bytes, floods, kills, histories that must make sense.

    target          a server in a process of its own: its health, memory, log and end
    answers         what came back, read strictly, and whether a client could live with it
    operations      a valid body of every operation
    bodies          bodies that went wrong: types, nesting, numbers, text
    streams         HTTP that went wrong: framing, pieces, pipelines
    fuzzing         send what the strategies make, and judge what comes back
    floods          connections that are slow, silent, many or greedy
    table_client    the methods that the crash workload needs, over HTTP
    kills           a server that is killed under many writers, and its file
    pipelines       writers that send many requests ahead
    linearizable    is there an order in which a history could have happened?
    objects         what is tested for that: a counter, a bank, names
    histories       clients that write down what they asked and what they got

and the programs that run as processes of their own:

    serve           a server with other bounds than those of the command
    recorder        several clients that record a history
    soak            all of it, mixed, for as long as wanted
"""
